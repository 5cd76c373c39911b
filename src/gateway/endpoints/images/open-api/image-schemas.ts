import { bytes, count, object, orNull, ref, type Schema, type Schemas, text } from '../../shared/open-api-parts.ts';

const common: Schemas = {
  model: { type: 'string', examples: ['gpt-image-1.5', 'gemini-2.5-flash-image', 'imagen-4.0-generate-001', 'grok-imagine-image'] },
  prompt: { type: 'string', minLength: 1, maxLength: 32_000 },
  n: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
  size: text('In pixels, such as `1024x1024`, or `auto`. Models that know shapes only make the nearest one.'),
  quality: text('What the model has no word for is adapted or left out.', {
    enum: ['standard', 'hd', 'low', 'medium', 'high', 'auto'],
  }),
  response_format: text(
    'Default: bytes. `url`: addresses that expire, of the vendor where it gives some, else links to this gateway; not for streams of models that give bytes.',
    { enum: ['url', 'b64_json'] },
  ),
  output_format: { type: 'string', enum: ['png', 'jpeg', 'webp'] },
  output_compression: { type: 'integer', minimum: 0, maximum: 100 },
  background: { type: 'string', enum: ['transparent', 'opaque', 'auto'] },
  moderation: { type: 'string', enum: ['low', 'auto'] },
  aspect_ratio: text('In place of `size`: `16:9`.'),
  resolution: text('In place of `size`.', { enum: ['1k', '2k', '4k'] }),
  stream: {
    type: 'boolean',
    default: false,
    description: 'Events. Models that make none are answered for by the finished pictures as events.',
  },
  partial_images: { type: 'integer', minimum: 0, maximum: 3, default: 0, description: 'Unfinished pictures that a stream shows first.' },
  user: { type: 'string' },
};

const editFields: Schemas = { ...common, input_fidelity: { type: 'string', enum: ['high', 'low'] } };

const picture: Schema = {
  anyOf: [
    object({ image_url: text('An https address, or `data:image/png;base64,...`.') }, ['image_url']),
    object({ file_id: text('Known to the vendor that gave it only.') }, ['file_id']),
  ],
};

const usage = object(
  {
    total_tokens: count('All of them.'),
    input_tokens: count('The prompt and the pictures that came with it.'),
    output_tokens: count('The pictures that were made.'),
    input_tokens_details: object(
      { text_tokens: count('Of words.'), image_tokens: count('Of pictures.'), cached_tokens: count('Read from a cache.') },
      ['text_tokens', 'image_tokens'],
    ),
    output_tokens_details: object({ text_tokens: count('Of words.'), image_tokens: count('Of pictures.') }, [
      'text_tokens',
      'image_tokens',
    ]),
  },
  ['total_tokens', 'input_tokens', 'output_tokens'],
  { description: 'What is charged, where it is charged by tokens.' },
);

const made: Schemas = {
  b64_json: text('The picture.'),
  url: text('Where the vendor shows it for a while.'),
  revised_prompt: text('What the model made it of.'),
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
      image: { ...picture, description: 'One picture, in place of `images`.' },
      mask: picture,
    },
    ['model', 'prompt'],
  ),
  ImageEditForm: object(
    {
      ...editFields,
      image: { ...bytes, description: 'A file with a filename: png, jpeg or webp. Several are `image[]`.' },
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
    description: 'The data of an event of `stream: true`.',
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
          param: orNull(text('The field that is wrong.')),
          code: orNull({ type: 'string' }),
        },
        ['message', 'type', 'param', 'code'],
      ),
    },
    ['error'],
  ),
};

/** Server-sent events of pictures. */
export const imageEvents = { schema: text('Server-sent events.'), 'x-event-data': ref('ImageEvent') };
