import type * as Mediabunny from 'mediabunny';

/** The reader of audio and video files, loaded when a length is measured first: its 70 modules are of no use to a gateway that sees neither. */
export const loadMediabunny = (): Promise<typeof Mediabunny> => import('mediabunny');
