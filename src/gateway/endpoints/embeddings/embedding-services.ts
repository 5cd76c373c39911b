import type { PlainServices } from '../shared/plain-call.ts';

/** What embeddings work with: what every call does. */
export type EmbeddingServices = PlainServices;
