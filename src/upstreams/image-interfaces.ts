/** How an upstream makes pictures of a model. */
export type ImageInterface = {
  /** Whose requests and replies they are: OpenAI's, xAI's, generate-content with pictures as parts, or Imagen's `:predict`. */
  readonly form: 'openai' | 'xai' | 'gemini' | 'imagen';
  /** What is counted of them: tokens by size and quality, tokens by class of size, or pictures by the piece. */
  readonly counting: 'by-size' | 'native' | 'by-piece';
  /** Where they are made, below the base address. */
  readonly path: (operation: 'generations' | 'edits') => string;
};

const openaiPath: ImageInterface['path'] = (operation) => `/images/${operation}`;

/** OpenAI's own interface. Its older models are billed by the picture and report no tokens. */
export function openaiImagesOf(upstreamModel: string): ImageInterface {
  return { form: 'openai', counting: upstreamModel.startsWith('dall-e') ? 'by-piece' : 'by-size', path: openaiPath };
}

const xaiImages: ImageInterface = { form: 'xai', counting: 'by-piece', path: openaiPath };

/** xAI has OpenAI's paths, with fields of its own. Source: docs.x.ai, image generations. */
export const xaiImagesOf = (): ImageInterface => xaiImages;
