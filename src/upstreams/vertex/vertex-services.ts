import type { EmbeddingInterface } from '../embedding-interfaces.ts';
import type { ImageInterface } from '../image-interfaces.ts';

// Paths are methods of the model; `placeAtVertex` writes the rest.

/**
 * The embedding interface of a model. Which models have `:embedContent` is the rule of Google's genai SDK 2.32.0.
 */
export function embeddingsAtVertex(upstreamModel: string): EmbeddingInterface {
  if (upstreamModel.startsWith('multimodalembedding')) return { form: 'vertex-multimodal', path: ':predict' };
  const isLater = (upstreamModel.includes('gemini') && upstreamModel !== 'gemini-embedding-001') || upstreamModel.includes('maas');
  return isLater ? { form: 'vertex-content', path: ':embedContent' } : { form: 'vertex-predict', path: ':predict' };
}

/** Imagen has a method of its own and is billed per image. Gemini writes images as parts of a reply. */
export function imagesAtVertex(upstreamModel: string): ImageInterface {
  if (upstreamModel.startsWith('imagen')) return { form: 'imagen', counting: 'by-piece', path: () => ':predict' };
  return { form: 'gemini', counting: 'native', path: () => ':generateContent' };
}
