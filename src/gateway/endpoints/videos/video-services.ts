import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { VideoService } from './video-service.ts';

/** What videos work with, besides what every call does. */
export type VideoServices = AdmissionServices &
  AttemptServices & {
    /** Video tasks and their files; absent where none are kept. */
    readonly videos?: VideoService | undefined;
    /** Sends what has ended to the addresses that were given for it. Absent where nothing is sent. */
    readonly callbacks?: Callbacks;
  };
