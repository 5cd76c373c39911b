import type { EmbeddingForm } from '../dialects/embeddings/write-embeddings.ts';

/** How an upstream makes embeddings with a model. */
export type EmbeddingInterface = {
  readonly form: EmbeddingForm;
  /** The path below the base address, or the method of the model for vendors that place it. */
  readonly path: string;
  /** The most texts of one request; more are sent in several. Absent: as many as a client may send. */
  readonly textsMax?: number;
};

const openai: EmbeddingInterface = { form: 'openai', path: '/embeddings' };

/** OpenAI's interface, which most servers have. */
export const openaiEmbeddingsOf = (): EmbeddingInterface => openai;
