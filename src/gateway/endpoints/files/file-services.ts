import type { FileService } from '../../../tools/file-search/file-service.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

export type FileServices = AdmissionServices &
  Pick<AttemptServices, 'settings' | 'newId' | 'logger' | 'deadlines'> & {
    /** Files and vector stores of users; absent if the gateway stores none. */
    readonly files?: FileService | undefined;
  };
