import { bytes, count, object, orNull, ref, type Schema, type Schemas, text } from '../../shared/open-api-parts.ts';

const common: Schemas = {
  model: { type: 'string', examples: ['gpt-image-1.5', 'gemini-2.5-flash-image', 'imagen-4.0-generate-001', 'grok-imagine-image'] },
  prompt: { type: 'string', minLength: 1, maxLength: 32_000 },
  n: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
  size: text('Pixels, such as `1024x1024`, or `auto`. Models that only support aspect ratios use the nearest one.'),
  quality: text('A quality that the model does not support is adapted or dropped.', {
    enum: ['standard', 'hd', 'low', 'medium', 'high', 'auto'],
  }),
  response_format: text(
    'Default: bytes. `url`: URLs that expire, of the vendor if it has some, otherwise of this gateway; not for streams of models that return bytes.',
    { enum: ['url', 'b64_json'] },
  ),
  output_format: { type: 'string', enum: ['png', 'jpeg', 'webp'] },
  output_compression: { type: 'integer', minimum: 0, maximum: 100 },
  background: { type: 'string', enum: ['transparent', 'opaque', 'auto'] },
  moderation: { type: 'string', enum: ['low', 'auto'] },
  aspect_ratio: text('Instead of `size`, such as `16:9`.'),
  resolution: text('In place of `size`.', { enum: ['1k', '2k', '4k'] }),
  stream: {
    type: 'boolean',
    default: false,
    description: 'A stream of events. For models that do not stream, the events are the finished images.',
  },
  partial_images: { type: 'integer', minimum: 0, maximum: 3, default: 0, description: 'Partial images of a stream.' },
  user: { type: 'string' },
};

const editFields: Schemas = { ...common, input_fidelity: { type: 'string', enum: ['high', 'low'] } };

const picture: Schema = {
  anyOf: [
    object({ image_url: text('An https URL, or `data:image/png;base64,...`.') }, ['image_url']),
    object({ file_id: text('An id that is only valid at the vendor that issued it.') }, ['file_id']),
  ],
};

const usage = object(
  {
    total_tokens: count('All of them.'),
    input_tokens: count('Tokens of the prompt and the source images.'),
    output_tokens: count('Tokens of the images.'),
    input_tokens_details: object(
      {
        text_tokens: count('Tokens of text.'),
        image_tokens: count('Tokens of images.'),
        cached_tokens: count('Tokens read from a cache.'),
      },
      ['text_tokens', 'image_tokens'],
    ),
    output_tokens_details: object({ text_tokens: count('Tokens of text.'), image_tokens: count('Tokens of images.') }, [
      'text_tokens',
      'image_tokens',
    ]),
  },
  ['total_tokens', 'input_tokens', 'output_tokens'],
  { description: 'The charged tokens, if tokens are charged.' },
);

const made: Schemas = {
  b64_json: text('The bytes.'),
  url: text('A URL that expires.'),
  revised_prompt: text('The prompt that the model used.'),
};
const settings: Schemas = {
  background: { type: 'string' },
  output_format: { type: 'string' },
  quality: { type: 'string' },
  size: { type: 'string' },
};
const kinds = { anyOf: [{ pattern: '^image_(generation|edit)\\.partial_image$' }, { pattern: '^image_(generation|edit)\\.completed$' }] };

export const imageSchemas: Schemas = {
  ImageGeneration: object({ ...common, style: { type: 'string', enum: ['vivid', 'natural'] } }, ['model', 'prompt']),
  ImageEdit: object(
    {
      ...editFields,
      images: { type: 'array', items: picture, minItems: 1, maxItems: 16 },
      image: { ...picture, description: 'One image, instead of `images`.' },
      mask: picture,
    },
    ['model', 'prompt'],
  ),
  ImageEditForm: object(
    {
      ...editFields,
      image: { ...bytes, description: 'A file with a filename: png, jpeg or webp. Several files are `image[]`.' },
      'image[]': { type: 'array', items: bytes },
      mask: bytes,
    },
    ['model', 'prompt'],
  ),
  Images: object({ created: count('Unix seconds.'), ...settings, data: { type: 'array', items: object(made, []) }, usage }, [
    'created',
    'data',
  ]),
  ImageEvent: {
    description: 'The data of a stream event.',
    anyOf: [
      object(
        {
          type: { type: 'string', ...kinds },
          ...made,
          ...settings,
          created_at: count('Unix seconds.'),
          partial_image_index: count('From 0.'),
          usage,
        },
        ['type', 'created_at'],
      ),
      object({ type: { const: 'error' }, error: { type: 'object' } }, ['type', 'error']),
    ],
  },
  ImageProblem: object(
    {
      error: object(
        {
          message: { type: 'string' },
          type: { type: 'string' },
          param: orNull(text('The invalid field.')),
          code: orNull({ type: 'string' }),
        },
        ['message', 'type', 'param', 'code'],
      ),
    },
    ['error'],
  ),
};

/** Server-sent events of images. */
export const imageEvents = { schema: text('Server-sent events.'), 'x-event-data': ref('ImageEvent') };
