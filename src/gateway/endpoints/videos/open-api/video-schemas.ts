import { documentedRatios, documentedResolutions, knownRatios, sizes } from '../../../../dialects/video-tasks/frame-sizes.ts';
import { imagesMax } from '../../../../dialects/video-tasks/read-media.ts';
import { count, object, orNull, ref, type Schema, type Schemas, text, unixSeconds } from '../../shared/open-api-parts.ts';

const medium = (kind: 'image' | 'video'): Schema => ({
  description: `An https: or http: address, or a data URL of the form data:${kind}/...;base64,...; as a text or as an object with it in \`url\`. A URL of this gateway (\`metadata.url\` of a video) names that video.`,
  anyOf: [
    { type: 'string' },
    object({ url: { type: 'string' } }, ['url']),
    object({ image_url: { anyOf: [{ type: 'string' }, object({ url: { type: 'string' } }, ['url'])] } }, ['image_url']),
  ],
});

const model = text('A name in GET /v1/videos/models.', { minLength: 1, maxLength: 256, examples: ['vendor-imagine-video'] });
const prompt = text('What the video shows.', { minLength: 1 });
const user = text('The end user, for the vendor.', { maxLength: 256 });
const callbackUrl = text('The URL that gets the event of the end; see docs/guide/callbacks.md.', {
  format: 'uri',
  maxLength: 2048,
});
const callbacks = { callback_url: callbackUrl, webhook_url: { ...callbackUrl, description: 'The same, with another name.' } };
const resolution = text('The resolution. Source: contract A 2.2; other resolutions pass if the model supports them.', {
  enum: [...documentedResolutions],
  default: '480p',
});
const aspectRatio = (documented: readonly string[]): Schema =>
  text('The aspect ratio. Default with an image: that of the image. Source: contract A 2.2.', {
    enum: [...documented],
    default: '16:9',
  });
const duration: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: 15,
  default: 5,
  description: 'Seconds. Not for a change of a video, which keeps its duration of at most 8.7 s. A string of digits is accepted too.',
};

/** Requests, in the three forms. */
const requests: Schemas = {
  VideoCreation: object(
    {
      model,
      prompt,
      duration,
      image: { ...medium('image'), description: 'The first frame. Either this or `images`.' },
      images: {
        type: 'array',
        minItems: 1,
        maxItems: imagesMax,
        items: medium('image'),
        description: 'One image is the first frame; several are references for the content.',
      },
      metadata: {
        type: 'object',
        description:
          'Passes to the vendor unchanged, and is stored and returned with the video. Its members `model`, `prompt` and `user` are ignored and named in `x-weir-ignored-fields`.',
        properties: {
          resolution,
          aspect_ratio: aspectRatio(documentedRatios),
          video: { ...medium('video'), description: 'The source video, which decides duration, resolution and aspect ratio.' },
        },
        additionalProperties: true,
      },
      user,
      ...callbacks,
    },
    ['model', 'prompt'],
    { description: 'Source: contract A 2.2.' },
  ),
  OpenaiVideoCreation: object(
    {
      model: { ...model, default: 'sora-2' },
      prompt: { ...prompt, maxLength: 32_000 },
      seconds: text('Seconds as a string of digits, 1 to 20. Models support some of these; OpenAI supports 4, 8 and 12.', {
        pattern: '^\\d{1,2}$',
      }),
      size: text('Width and height in pixels.', { enum: [...sizes] }),
      input_reference: { ...medium('image'), description: 'The first frame: a file in a form, a URL or data URL in JSON.' },
      user,
      ...callbacks,
    },
    ['prompt'],
    { description: "OpenAI's form. Source: its CreateVideoBody, August 2026." },
  ),
  VideoRemix: object({ prompt: { ...prompt, maxLength: 32_000 }, ...callbacks }, ['prompt'], {
    description: 'The change of one of your videos.',
  }),
  XaiVideoCreation: object(
    {
      model,
      prompt,
      duration: { ...duration, description: 'Seconds.' },
      image: medium('image'),
      reference_images: { type: 'array', minItems: 1, maxItems: imagesMax, items: medium('image'), description: 'Not with `image`.' },
      resolution,
      aspect_ratio: aspectRatio(knownRatios),
      user,
      ...callbacks,
    },
    ['model', 'prompt'],
    { description: "xAI's form. Source: its videos interface, May 2026." },
  ),
  XaiVideoEdit: object({ model, prompt, video: medium('video'), user, ...callbacks }, ['model', 'prompt', 'video']),
  XaiVideoExtension: object({ model, prompt, video: medium('video'), duration: { ...duration, maximum: 15 }, user, ...callbacks }, [
    'model',
    'prompt',
    'video',
  ]),
};

const failure = object(
  {
    code: text('Why there is no video.', {
      enum: [
        'content_moderated',
        'upstream_rejected',
        'upstream_failed',
        'upstream_timeout',
        'task_expired',
        'task_lost',
        'submission_lost',
        'result_unavailable',
        'canceled',
      ],
    }),
    message: { type: 'string' },
  },
  ['code', 'message'],
);

const status = text('Never goes back; `completed` and `failed` are final. Source: contract A 3.', {
  enum: ['queued', 'in_progress', 'completed', 'failed'],
});
const always: Schemas = {
  id: { type: 'string' },
  object: { const: 'video' },
  model: text('As it was asked for.'),
  status,
  progress: count('Percent; never falls, and is 100 only when completed.', { maximum: 100 }),
  created_at: unixSeconds('When it was asked for.'),
  prompt: { type: 'string' },
  metadata: {
    type: 'object',
    description: 'As it was sent, and with `url` when the video is completed.',
    properties: { url: text('The URL of the file until `expires_at`.') },
    additionalProperties: true,
  },
};
const later: Schemas = {
  completed_at: unixSeconds('Time of the end, completed or failed.'),
  expires_at: unixSeconds('Time at which the file is deleted.'),
  seconds: text('The duration in seconds: the requested, then the actual one.'),
  size: text('Width and height in pixels, if both are known.'),
  remixed_from_video_id: { type: 'string' },
  error: failure,
};
const taskId = text('The same as `id`.');
const names = Object.keys(always);
const ofStatus = (statuses: readonly string[], properties: Schemas, more: Schema = {}): Schema => ({
  ...more,
  properties: { ...properties, status: { enum: [...statuses] } },
});
/** A completed video has a URL. */
const whenOver: Schema = {
  anyOf: [
    ofStatus(['completed'], { progress: { const: 100 }, metadata: { required: ['url'] } }),
    ofStatus(['queued', 'in_progress', 'failed'], { progress: { maximum: 99 } }),
  ],
};
/** Only a failed video has an error. For others, OpenAI's object has null, and the contract's omits it. */
const errorWhenFailed = (hasNull: boolean): Schema => ({
  anyOf: [
    ofStatus(['failed'], { error: { type: 'object' } }, { required: ['error'] }),
    hasNull
      ? ofStatus(['queued', 'in_progress', 'completed'], { error: { type: 'null' } })
      : ofStatus(['queued', 'in_progress', 'completed'], {}, { not: { required: ['error'] } }),
  ],
});

/** Replies. */
const tasks: Schemas = {
  Video: object({ ...always, task_id: taskId, ...later }, [...names, 'task_id'], {
    description: 'A video and its state. Source: contract A 2.1.',
    allOf: [whenOver, errorWhenFailed(false)],
  }),
  OpenaiVideo: object(
    { ...always, ...Object.fromEntries(Object.entries(later).map(([name, schema]) => [name, orNull(schema)])) },
    [...names, ...Object.keys(later)],
    {
      description: "A video of OpenAI's interface, and every video in a list. All members are present; absent values are null.",
      allOf: [whenOver, errorWhenFailed(true)],
    },
  ),
  XaiVideo: object(
    {
      status: { type: 'string', enum: ['pending', 'done', 'failed', 'expired'] },
      progress: count('Percent.', { maximum: 100 }),
      model: { type: 'string' },
      video: object(
        {
          url: text('Empty if moderation withheld the video.'),
          duration: { type: 'number', exclusiveMinimum: 0, description: 'Seconds.' },
          respect_moderation: { type: 'boolean' },
        },
        ['url', 'respect_moderation'],
      ),
      error: failure,
    },
    ['status', 'model'],
    { description: "A video of xAI's interface." },
  ),
  XaiVideoCreated: object({ request_id: text('The id of the video.') }, ['request_id']),
  VideoEvent: {
    description: 'The data of an event: the video in the form of its request, and the number of the event in its stream.',
    allOf: [{ anyOf: [ref('Video'), ref('OpenaiVideo'), ref('XaiVideo')] }, object({ sequence: count('From 0.') }, ['sequence'])],
  },
  VideoList: object(
    {
      object: { const: 'list' },
      data: { type: 'array', items: ref('OpenaiVideo') },
      first_id: orNull({ type: 'string' }),
      last_id: orNull(text('The `after` of the next page.')),
      has_more: { type: 'boolean' },
    },
    ['object', 'data', 'first_id', 'last_id', 'has_more'],
  ),
  VideoDeleted: object({ id: { type: 'string' }, object: { const: 'video.deleted' }, deleted: { const: true } }, [
    'id',
    'object',
    'deleted',
  ]),
};

const usd = text('USD as an exact decimal number.', { pattern: '^\\d+(\\.\\d+)?$' });
const usage: Schema = {
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 0 },
  description: 'Meters: `outputVideoMs` in milliseconds, `inputImages` in images.',
};
const credits = text('The same in the unit of the operator, if `credit_unit` names one.');
const held = object({ amount_usd: usd, credits, usage }, ['amount_usd', 'usage'], { description: 'The highest cost.' });
const line = object(
  {
    meter: text('The meter, such as `video_ms:480p`.'),
    quantity: { type: 'number', minimum: 0 },
    unit_price_usd: usd,
    per: { type: 'number', exclusiveMinimum: 0, description: 'The quantity that the price is for.' },
    multipliers: { type: 'object', additionalProperties: { type: 'string' } },
  },
  ['meter', 'quantity', 'unit_price_usd', 'per'],
);

/** Receipts. */
const prices: Schemas = {
  VideoReceipt: object(
    {
      id: { type: 'string' },
      object: { const: 'video.receipt' },
      request_id: text('The id of the request, and of the row in the ledger.'),
      model: { type: 'string' },
      status,
      state: text('The state of the hold.', { enum: ['held', 'settled', 'released'] }),
      created_at: unixSeconds('When it was asked for.'),
      settled_at: orNull(unixSeconds('When it was over.')),
      price_version: text('The version of its price book.'),
      pricing_parameters: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Parameters of the price: `resolution`.',
      },
      held,
      charged: orNull(
        object(
          {
            amount_usd: usd,
            credits,
            price_id: orNull(text('The entry of the price book; null if nothing has a price.')),
            usage,
            estimated: { type: 'boolean', description: 'Whether the duration was taken from the request.' },
            lines: { type: 'array', items: line },
          },
          ['amount_usd', 'price_id', 'usage', 'estimated', 'lines'],
        ),
      ),
      receipt: orNull(ref('Receipt')),
      credit_unit: ref('CreditUnit'),
    },
    [
      'id',
      'object',
      'request_id',
      'model',
      'status',
      'state',
      'created_at',
      'settled_at',
      'price_version',
      'pricing_parameters',
      'held',
      'charged',
      'receipt',
    ],
  ),
  VideoModels: object(
    {
      object: { const: 'list' },
      data: {
        type: 'array',
        items: object(
          {
            id: { type: 'string' },
            object: { const: 'video.model' },
            owned_by: { type: 'string' },
            modes: { type: 'array', items: { type: 'string', enum: ['text', 'image', 'references', 'remix', 'extension'] } },
            duration_seconds: object(
              {
                min: count('Seconds.'),
                max: count('Seconds.'),
                default: count('Seconds.'),
                values: { type: 'array', items: count('Seconds.'), description: 'The supported durations, if only some are.' },
              },
              ['min', 'max', 'default'],
            ),
            resolutions: { type: 'array', items: { type: 'string' } },
            aspect_ratios: { type: 'array', items: { type: 'string' } },
            prices: object(
              {
                currency: { const: 'USD' },
                per_second: { type: 'object', additionalProperties: usd, description: 'By resolution.' },
                per_input_image: orNull(usd),
                version: text('Of the price book.'),
              },
              ['currency', 'per_second', 'per_input_image', 'version'],
            ),
          },
          ['id', 'object', 'owned_by', 'modes', 'duration_seconds', 'resolutions', 'aspect_ratios', 'prices'],
        ),
      },
    },
    ['object', 'data'],
  ),
};

const problem = object(
  {
    message: { type: 'string' },
    type: { type: 'string' },
    param: orNull(text('The path of the invalid field.')),
    code: { type: 'string' },
  },
  ['message', 'type', 'param', 'code'],
);

export const videoSchemas: Schemas = {
  ...requests,
  ...tasks,
  ...prices,
  VideoProblem: object({ error: problem, code: { type: 'string' }, message: { type: 'string' } }, ['error', 'code', 'message'], {
    description: 'An error. Code and message are also at the top level, where clients of other gateways expect them.',
  }),
  XaiVideoProblem: object({ code: { type: 'string' }, error: text('The message.') }, ['code', 'error']),
};
