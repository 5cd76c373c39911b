import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { VideoService } from './video-service.ts';

export type VideoServices = AdmissionServices &
  AttemptServices & {
    /** Video tasks and their files; absent if the gateway stores none. */
    readonly videos?: VideoService | undefined;
    /** Sends callbacks of finished tasks. Absent if the gateway sends none. */
    readonly callbacks?: Callbacks;
  };
