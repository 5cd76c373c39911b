import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';
import type { PictureFiles } from './picture-files.ts';

/** What pictures work with, besides what every call does. */
export type ImageServices = AdmissionServices &
  AttemptServices & {
    /** Where pictures are kept for those who want addresses; absent where none are. */
    readonly pictures?: PictureFiles | undefined;
    /** Where uploaded pictures wait; absent where none are taken. */
    readonly uploads?: UploadSpool | undefined;
  };
