import type { EmbeddingInterface } from '../embedding-interfaces.ts';
import type { ImageInterface } from '../image-interfaces.ts';

// Paths are methods of the model; `placeAtVertex` writes the rest.

/**
 * The embedding interface of a model. Which models have `:embedContent` is the rule of Google's genai SDK 2.32.0. How
 * many texts a request may have: "Text embeddings API" of Vertex AI, and Roo-Code#5123.
 */
export function embeddingsAtVertex(upstreamModel: string): EmbeddingInterface {
  if (upstreamModel.startsWith('multimodalembedding')) return { form: 'vertex-multimodal', path: ':predict', textsMax: 1 };
  const isLater = (upstreamModel.includes('gemini') && upstreamModel !== 'gemini-embedding-001') || upstreamModel.includes('maas');
  if (isLater) return { form: 'vertex-content', path: ':embedContent', textsMax: 1 };
  return { form: 'vertex-predict', path: ':predict', textsMax: upstreamModel === 'gemini-embedding-001' ? 1 : 250 };
}

/** Imagen has a method of its own and is billed per image. Gemini writes images as parts of a reply. */
export function imagesAtVertex(upstreamModel: string): ImageInterface {
  if (upstreamModel.startsWith('imagen')) return { form: 'imagen', counting: 'by-piece', path: () => ':predict' };
  return { form: 'gemini', counting: 'native', path: () => ':generateContent' };
}
