import type * as Undici from 'undici';

/** undici, loaded when it is used first: a gateway that asks nobody but its upstreams needs none of it, and it is a twentieth of what a start costs. */
export const loadUndici = (): Promise<typeof Undici> => import('undici');
