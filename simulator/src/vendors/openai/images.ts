import { countTokens, tokensPerMedia } from '../../count-tokens.ts';
import { type ImageFormat, writePlainImage } from '../../media/plain-image.ts';
import { asText, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord, MediaCall, MediaReply, SimulatedRequest } from '../../simulated-vendor.ts';
import type { Steering } from '../../steering.ts';
import { audioErrorFrame, refuseMissingModel } from './audio-errors.ts';
import { refuse } from './responses-error.ts';

type ImageCall = {
  readonly isEdit: boolean;
  readonly fields: JsonRecord;
  /** Images in the request, without the mask. */
  readonly sources: number;
};

const countMax = 10;
const qualities = ['low', 'medium', 'high'] as const;
const tokensBySize: Readonly<Record<string, Readonly<Record<(typeof qualities)[number], number>>>> = {
  '1024x1024': { low: 272, medium: 1056, high: 4160 },
  '1024x1536': { low: 408, medium: 1584, high: 6240 },
  '1536x1024': { low: 400, medium: 1568, high: 6208 },
};
const partialTokens = 100;
const commonFields = ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'output_compression', 'moderation', 'user'];
const knownFields = new Set([
  ...commonFields,
  'stream',
  'partial_images',
  'style',
  'response_format',
  'input_fidelity',
  'image',
  'images',
  'mask',
]);

/** POST /v1/images/generations and /v1/images/edits (a form or JSON): whole, or as events if a stream is requested. */
export async function answerImages(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> {
  const isEdit = request.path.endsWith('/edits');
  const asked = await readCall(request, call, isEdit);
  const { fields } = asked;
  const model = asText(fields['model']);
  if (model === '') throw refuse("Missing required parameter: 'model'.", { param: 'model', code: 'missing_required_parameter' });
  if (model.startsWith('missing-')) throw refuseMissingModel(model);
  const unknown = Object.keys(fields).find((name) => !knownFields.has(name));
  if (unknown !== undefined) throw refuse(`Unknown parameter: '${unknown}'.`, { param: unknown, code: 'unknown_parameter' });
  const prompt = asText(fields['prompt']);
  if (prompt === '') throw refuse("Missing required parameter: 'prompt'.", { param: 'prompt', code: 'missing_required_parameter' });
  if (isEdit && asked.sources === 0)
    throw refuse("Missing required parameter: 'image'.", { param: 'image', code: 'missing_required_parameter' });
  const steering = call.steer(prompt);
  if (steering.stop === 'refusal' || steering.stop === 'content-filter')
    throw refuse('Your request was rejected by the safety system.', { code: 'moderation_blocked', type: 'image_generation_user_error' });
  return model.startsWith('dall-e') ? answerOld(request, asked, call) : answerNew(asked, prompt, steering, request, call);
}

async function readCall(request: SimulatedRequest, call: MediaCall, isEdit: boolean): Promise<ImageCall> {
  const type = request.headers['content-type'] ?? '';
  if (/^application\/json\s*(;|$)/i.test(type)) {
    if (request.body === undefined) throw refuse('We could not parse the JSON body of your request: it must be one JSON object.');
    return { isEdit, fields: request.body, sources: recordsOf(request.body['images']).length };
  }
  if (!isEdit || !/^multipart\/form-data\s*;/i.test(type)) throw refuse(`Unsupported content type: '${type}'.`, { status: 415 });
  const fields: JsonRecord = {};
  const described: JsonRecord = {};
  let sources = 0;
  const form = await new Response(new Uint8Array(call.bytes), { headers: { 'content-type': type } }).formData();
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = readText(name, value);
    else if (!/^image\/(png|jpeg|webp)$/.test(value.type))
      throw refuse(`Invalid file '${name}': unsupported mimetype ('${value.type}').`, { param: name });
    else if (name !== 'mask') sources += 1;
    described[name] = typeof value === 'string' ? value.slice(0, 1000) : { name: value.name, type: value.type, bytes: value.size };
  }
  call.keepForm(described);
  return { isEdit, fields, sources };
}

const readText = (name: string, value: string): Json => {
  if (['n', 'output_compression', 'partial_images'].includes(name)) return Number(value);
  return name === 'stream' ? value === 'true' : value;
};

function readCount(fields: JsonRecord): number {
  const count = fields['n'] ?? 1;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 1 && count <= countMax) return count;
  throw refuse(`Invalid 'n': expected an integer from 1 to ${countMax}.`, { param: 'n', code: 'invalid_value' });
}

function oneOf<Word extends string>(fields: JsonRecord, name: string, words: readonly Word[], otherwise: Word): Word {
  const value = fields[name] ?? 'auto';
  const known = value === 'auto' ? otherwise : words.find((word) => word === value);
  if (known !== undefined) return known;
  throw refuse(`Invalid value: '${asText(value)}'. Supported values are: ${words.map((word) => `'${word}'`).join(', ')}.`, {
    param: name,
    code: 'invalid_value',
  });
}

/** Models that count tokens, and always answer with bytes. */
function answerNew(
  { isEdit, fields, sources }: ImageCall,
  prompt: string,
  steering: Steering,
  request: SimulatedRequest,
  call: MediaCall,
): MediaReply {
  for (const name of ['response_format', 'style'])
    if (fields[name] !== undefined) throw refuse(`Unknown parameter: '${name}'.`, { param: name, code: 'unknown_parameter' });
  const count = readCount(fields);
  const size = oneOf(fields, 'size', Object.keys(tokensBySize), '1024x1024');
  const quality = oneOf(fields, 'quality', qualities, 'medium');
  const format = oneOf<ImageFormat>(fields, 'output_format', ['png', 'jpeg', 'webp'], 'png');
  const background = oneOf(fields, 'background', ['transparent', 'opaque'], 'opaque');
  const isStream = fields['stream'] === true;
  const partials = isStream && typeof fields['partial_images'] === 'number' ? fields['partial_images'] : 0;
  const made = tokensBySize[size]?.[quality] ?? 0;
  const outputTokens = steering.outputTokens ?? count * (made + partials * partialTokens);
  const textTokens = countTokens(prompt);
  const imageTokens = sources * tokensPerMedia;
  const usage: JsonRecord = {
    total_tokens: textTokens + imageTokens + outputTokens,
    input_tokens: textTokens + imageTokens,
    output_tokens: outputTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
    ...(!isStream && { output_tokens_details: { image_tokens: outputTokens, text_tokens: 0 } }),
  };
  const [width = 0, height = 0] = size.split('x').map(Number);
  const draw = (place: string): string =>
    writePlainImage({ format, width, height, seed: `${call.seed}/${prompt}/${place}` }).toString('base64');
  const seconds = Math.floor((request.nowMs ?? 0) / 1000);
  const settings = { size, quality, background, output_format: format };
  const media = { inputTokens: textTokens + imageTokens, outputTokens };
  if (!isStream) {
    const data = Array.from({ length: count }, (_, index) => ({ b64_json: draw(String(index)) }));
    return toReply({ created: seconds, ...settings, data, usage }, media);
  }
  const prefix = isEdit ? 'image_edit' : 'image_generation';
  const frames = Array.from({ length: partials }, (_, index) =>
    writeEvent(`${prefix}.partial_image`, {
      b64_json: draw(`partial ${index}`),
      created_at: seconds,
      ...settings,
      partial_image_index: index,
    }),
  );
  const ends = Array.from({ length: count }, (_, index) =>
    writeEvent(`${prefix}.completed`, {
      b64_json: draw(String(index)),
      created_at: seconds,
      ...settings,
      ...(index === count - 1 && { usage }),
    }),
  );
  const rest = Math.max(1, Math.floor((outputTokens - partials * partialTokens) / count));
  return {
    type: 'media',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    frames: [...frames, ...ends],
    frameTokens: [...frames.map(() => partialTokens), ...ends.map(() => rest)],
    errorFrame: `event: error\n${audioErrorFrame}`,
    media,
  };
}

const writeEvent = (type: string, members: JsonRecord): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

/** Models that are charged per image. */
function answerOld(request: SimulatedRequest, { fields }: ImageCall, call: MediaCall): MediaReply {
  const count = readCount(fields);
  const [width = 1024, height = 1024] = oneOf(fields, 'size', ['256x256', '512x512', '1024x1024', '1792x1024', '1024x1792'], '1024x1024')
    .split('x')
    .map(Number);
  const data = Array.from({ length: count }, (_, index): JsonRecord => {
    const seed = `${call.seed}/${asText(fields['prompt'])}/${index}`;
    if (fields['response_format'] === 'b64_json')
      return { b64_json: writePlainImage({ format: 'png', width, height, seed }).toString('base64') };
    return { url: writeImageUrl(request, { width, height, name: `${index}`, format: 'png' }), revised_prompt: asText(fields['prompt']) };
  });
  return toReply({ created: Math.floor((request.nowMs ?? 0) / 1000), data }, {});
}

/** The address at which the simulator serves an image. */
export function writeImageUrl(
  request: SimulatedRequest,
  { width, height, name, format }: { readonly width: number; readonly height: number; readonly name: string; readonly format: ImageFormat },
): string {
  return `http://${request.headers['host'] ?? '127.0.0.1'}${picturePrefix}${width}x${height}-${name}.${format}`;
}

const picturePrefix = '/simulated-pictures/';

/** GET of such an address, without a credential; undefined for every other route. */
export function serveImage({ method, path }: SimulatedRequest): MediaReply | undefined {
  const found = new RegExp(`^${picturePrefix}(\\d{1,4})x(\\d{1,4})-(\\w{1,40})\\.(png|jpeg|webp)$`).exec(path);
  if (method !== 'GET' || found === null) return undefined;
  const [, width, height, seed = '', name] = found;
  const format = (['png', 'jpeg', 'webp'] as const).find((known) => known === name) ?? 'png';
  const bytes = writePlainImage({ format, width: Math.max(1, Number(width)), height: Math.max(1, Number(height)), seed });
  return { type: 'media', status: 200, headers: { 'content-type': `image/${format}` }, frames: [bytes] };
}

export const isImage = ({ method, path }: SimulatedRequest): boolean => method === 'GET' && path.startsWith(picturePrefix);

function toReply(body: JsonRecord, media: NonNullable<MediaReply['media']>): MediaReply {
  return { type: 'media', status: 200, headers: { 'content-type': 'application/json' }, frames: [JSON.stringify(body)], media };
}
