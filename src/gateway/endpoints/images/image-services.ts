import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

/** What pictures work with: what every call does. */
export type ImageServices = AdmissionServices & AttemptServices;
