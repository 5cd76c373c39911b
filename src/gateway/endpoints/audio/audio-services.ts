import type { MediaMeter } from '../../../platform/media/media-meter.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';

/** What speech and transcriptions work with, besides what every call does. */
export type AudioServices = AdmissionServices &
  AttemptServices & {
    /** Where uploaded sound waits; absent where none is taken. */
    readonly uploads?: UploadSpool | undefined;
    /** Measures sound and videos; absent where no uploads are taken. */
    readonly mediaMeter?: MediaMeter | undefined;
  };
