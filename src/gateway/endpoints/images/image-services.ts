import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';
import type { ImageFiles } from './image-files.ts';

export type ImageServices = AdmissionServices &
  AttemptServices & {
    /** The storage of linked images; absent if the gateway stores none. */
    readonly pictures?: ImageFiles | undefined;
    /** The spool of uploads; absent if the gateway accepts none. */
    readonly uploads?: UploadSpool | undefined;
  };
