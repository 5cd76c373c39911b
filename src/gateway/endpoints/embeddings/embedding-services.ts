import type { PlainServices } from '../shared/plain-call.ts';

export type EmbeddingServices = PlainServices;
