import type { MediaMeter } from '../../../platform/media/media-meter.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';

export type AudioServices = AdmissionServices &
  AttemptServices & {
    /** The spool of uploads; absent if the gateway accepts none. */
    readonly uploads?: UploadSpool | undefined;
    /** Measures audio and videos; absent if the gateway accepts no uploads. */
    readonly mediaMeter?: MediaMeter | undefined;
  };
