import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

/** What embeddings work with: what every call does. */
export type EmbeddingServices = AdmissionServices & AttemptServices;
