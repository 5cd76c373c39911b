import { documentedRatios, documentedResolutions, knownRatios, sizes } from '../../../../dialects/video-tasks/frame-sizes.ts';
import { imagesMax } from '../../../../dialects/video-tasks/read-media.ts';
import { count, object, orNull, ref, type Schema, type Schemas, text, unixSeconds } from '../../shared/open-api-parts.ts';

const medium = (kind: 'image' | 'video'): Schema => ({
  description: `An https: or http: address, or a data URL of the form data:${kind}/...;base64,...; as a text or as an object with it in \`url\`. An address of this gateway (\`metadata.url\` of a video) stands for the video itself.`,
  anyOf: [
    { type: 'string' },
    object({ url: { type: 'string' } }, ['url']),
    object({ image_url: { anyOf: [{ type: 'string' }, object({ url: { type: 'string' } }, ['url'])] } }, ['image_url']),
  ],
});

const model = text('A name out of GET /v1/videos/models.', { minLength: 1, maxLength: 256, examples: ['vendor-imagine-video'] });
const prompt = text('What the video shows.', { minLength: 1 });
const user = text('The end user, for the vendor.', { maxLength: 256 });
const callbackUrl = text('Where to post the event that tells of the end; see docs/guide/callbacks.md.', {
  format: 'uri',
  maxLength: 2048,
});
const callbacks = { callback_url: callbackUrl, webhook_url: { ...callbackUrl, description: 'The same under another name.' } };
const resolution = text('Lines of the video. Source: contract A 2.2; other resolutions pass where the model has them.', {
  enum: [...documentedResolutions],
  default: '480p',
});
const aspectRatio = (documented: readonly string[]): Schema =>
  text('Width to height. Left out with a picture, the ratio is that of the picture. Source: contract A 2.2.', {
    enum: [...documented],
    default: '16:9',
  });
const duration: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: 15,
  default: 5,
  description: 'Seconds. Not for changing a video, which keeps its length, at most 8.7 s. A text of digits is accepted too.',
};

/** What is asked for, in the three forms. */
const requests: Schemas = {
  VideoCreation: object(
    {
      model,
      prompt,
      duration,
      image: { ...medium('image'), description: 'The first picture. Either this or `images`.' },
      images: {
        type: 'array',
        minItems: 1,
        maxItems: imagesMax,
        items: medium('image'),
        description: 'One is the first picture; several are what is to be seen in the video.',
      },
      metadata: {
        type: 'object',
        description:
          'Goes to the vendor as it was written, digit by digit, is kept with the video and comes back with it. `model`, `prompt` and `user` in it are left out, and named in `x-weir-ignored-fields`.',
        properties: {
          resolution,
          aspect_ratio: aspectRatio(documentedRatios),
          video: { ...medium('video'), description: 'The video that is to be changed. With it, length, resolution and ratio are its own.' },
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
      seconds: text('Seconds, as a text of digits: 1 to 20, of which models make some. OpenAI makes 4, 8 and 12.', {
        pattern: '^\\d{1,2}$',
      }),
      size: text('Width and height in pixels.', { enum: [...sizes] }),
      input_reference: { ...medium('image'), description: 'The first picture: a file in a form, an address or data URL in JSON.' },
      user,
      ...callbacks,
    },
    ['prompt'],
    { description: "OpenAI's form. Source: its CreateVideoBody, August 2026." },
  ),
  VideoRemix: object({ prompt: { ...prompt, maxLength: 32_000 }, ...callbacks }, ['prompt'], {
    description: 'How one of your videos is to be changed.',
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

const status = text('Goes forward only; `completed` and `failed` are the end. Source: contract A 3.', {
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
    description: 'As it was sent; when completed also with `url`.',
    properties: { url: text('Where the file is, until `expires_at`.') },
    additionalProperties: true,
  },
};
const later: Schemas = {
  completed_at: unixSeconds('When it was over, completed or failed.'),
  expires_at: unixSeconds('When the file is deleted.'),
  seconds: text('The length in seconds: as asked for, and then as it is.'),
  size: text('Width and height in pixels, where both are known.'),
  remixed_from_video_id: { type: 'string' },
  error: failure,
};
const taskId = text('The same as `id`.');
const names = Object.keys(always);
const ofStatus = (statuses: readonly string[], properties: Schemas, more: Schema = {}): Schema => ({
  ...more,
  properties: { ...properties, status: { enum: [...statuses] } },
});
/** A completed video has an address. */
const whenOver: Schema = {
  anyOf: [
    ofStatus(['completed'], { progress: { const: 100 }, metadata: { required: ['url'] } }),
    ofStatus(['queued', 'in_progress', 'failed'], { progress: { maximum: 99 } }),
  ],
};
/** Only a failed one has an error: OpenAI's object says null for the others, the contract's leaves it out. */
const errorWhenFailed = (hasNull: boolean): Schema => ({
  anyOf: [
    ofStatus(['failed'], { error: { type: 'object' } }, { required: ['error'] }),
    hasNull
      ? ofStatus(['queued', 'in_progress', 'completed'], { error: { type: 'null' } })
      : ofStatus(['queued', 'in_progress', 'completed'], {}, { not: { required: ['error'] } }),
  ],
});

/** What is answered. */
const tasks: Schemas = {
  Video: object({ ...always, task_id: taskId, ...later }, [...names, 'task_id'], {
    description: 'A video and how it stands. Source: contract A 2.1.',
    allOf: [whenOver, errorWhenFailed(false)],
  }),
  OpenaiVideo: object(
    { ...always, ...Object.fromEntries(Object.entries(later).map(([name, schema]) => [name, orNull(schema)])) },
    [...names, ...Object.keys(later)],
    {
      description:
        "A video that came in OpenAI's form, and every video in a list: all members are there, null where there is nothing to say.",
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
          url: text('Empty where moderation withheld the video.'),
          duration: { type: 'number', exclusiveMinimum: 0, description: 'Seconds.' },
          respect_moderation: { type: 'boolean' },
        },
        ['url', 'respect_moderation'],
      ),
      error: failure,
    },
    ['status', 'model'],
    { description: "A video that came in xAI's form." },
  ),
  XaiVideoCreated: object({ request_id: text('The id of the video.') }, ['request_id']),
  VideoEvent: {
    description: 'The data of an event: the video, in the form in which it was asked for, and the number of the event in its stream.',
    allOf: [{ anyOf: [ref('Video'), ref('OpenaiVideo'), ref('XaiVideo')] }, object({ sequence: count('From 0.') }, ['sequence'])],
  },
  VideoList: object(
    {
      object: { const: 'list' },
      data: { type: 'array', items: ref('OpenaiVideo') },
      first_id: orNull({ type: 'string' }),
      last_id: orNull(text('Give it as `after` for the next page.')),
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

const usd = text('USD, a decimal number with all its digits.', { pattern: '^\\d+(\\.\\d+)?$' });
const usage: Schema = {
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 0 },
  description: 'What is counted: `outputVideoMs` in milliseconds, `inputImages` in pictures.',
};
const credits = text('The same in the unit of the operator; only where `credit_unit` names one.');
const held = object({ amount_usd: usd, credits, usage }, ['amount_usd', 'usage'], { description: 'The most that it could come to.' });
const line = object(
  {
    meter: text('What is counted, such as `video_ms:480p`.'),
    quantity: { type: 'number', minimum: 0 },
    unit_price_usd: usd,
    per: { type: 'number', exclusiveMinimum: 0, description: 'How many of the meter the price is for.' },
    multipliers: { type: 'object', additionalProperties: { type: 'string' } },
  },
  ['meter', 'quantity', 'unit_price_usd', 'per'],
);

/** What it costs. */
const prices: Schemas = {
  VideoReceipt: object(
    {
      id: { type: 'string' },
      object: { const: 'video.receipt' },
      request_id: text('The id of the request, and of the row in the ledger.'),
      model: { type: 'string' },
      status,
      state: text('What became of the hold.', { enum: ['held', 'settled', 'released'] }),
      created_at: unixSeconds('When it was asked for.'),
      settled_at: orNull(unixSeconds('When it was over.')),
      price_version: text('Of the price book that holds for it.'),
      pricing_parameters: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'What the price depends on: `resolution`.',
      },
      held,
      charged: orNull(
        object(
          {
            amount_usd: usd,
            credits,
            price_id: orNull(text('The entry of the price book; null where nothing was priced.')),
            usage,
            estimated: { type: 'boolean', description: 'Whether the length of the video had to be taken from what was asked for.' },
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
                values: { type: 'array', items: count('Seconds.'), description: 'Where only some lengths are made.' },
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
    param: orNull(text('The path of the field that is wrong.')),
    code: { type: 'string' },
  },
  ['message', 'type', 'param', 'code'],
);

export const videoSchemas: Schemas = {
  ...requests,
  ...tasks,
  ...prices,
  VideoProblem: object({ error: problem, code: { type: 'string' }, message: { type: 'string' } }, ['error', 'code', 'message'], {
    description: 'An error; code and message also at the top, where clients of other gateways look for them.',
  }),
  XaiVideoProblem: object({ code: { type: 'string' }, error: text('The message.') }, ['code', 'error']),
};
