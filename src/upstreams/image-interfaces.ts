/** How a model's upstream makes images. */
export type ImageInterface = {
  /**
   * The form of requests and replies: OpenAI's, xAI's, generate-content with images as parts, or Imagen's `:predict`.
   */
  readonly form: 'openai' | 'xai' | 'gemini' | 'imagen';
  /** The counts of a reply: tokens by size and quality, tokens by size class, or images. */
  readonly counting: 'by-size' | 'native' | 'by-piece';
  /** The path below the base address. */
  readonly path: (operation: 'generations' | 'edits') => string;
};

const openaiPath: ImageInterface['path'] = (operation) => `/images/${operation}`;

/** OpenAI's own interface. Its older models are billed per image and report no tokens. */
export function openaiImagesOf(upstreamModel: string): ImageInterface {
  return { form: 'openai', counting: upstreamModel.startsWith('dall-e') ? 'by-piece' : 'by-size', path: openaiPath };
}

const xaiImages: ImageInterface = { form: 'xai', counting: 'by-piece', path: openaiPath };

/** xAI has OpenAI's paths with fields of its own. Source: docs.x.ai, image generations. */
export const xaiImagesOf = (): ImageInterface => xaiImages;
