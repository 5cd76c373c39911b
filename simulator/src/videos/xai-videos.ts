import { asText, isRecord, recordsOf } from '../read-json.ts';
import { VendorError, type Json, type JsonRecord } from '../simulated-vendor.ts';
import { lookAtImage, lookAtVideo, type VideoInput } from './read-inputs.ts';
import { filePath, linkOf, progressOf, type VideoCall, type VideoReply } from './video-call.ts';
import type { VideoJob } from './video-jobs.ts';
import {
  aspectRatios,
  framesOf,
  ratioOf,
  remixShape,
  resolutionOf,
  resolutions,
  secondsOf,
  shapeOf,
  type VideoShape,
} from './video-shape.ts';

const root = '/v1/videos/';
const referencesMax = 7;
/** Input of an extension, in seconds. */
const extendable = [2, 30] as const;

/** Ticks of 1e-10 USD per second and per input image, by model and resolution. */
const ticks: readonly { readonly model: RegExp; readonly second: Readonly<Record<string, number>>; readonly image: number }[] = [
  { model: /^grok-imagine-video-1\.5/, second: { '480p': 800_000_000, '720p': 1_400_000_000, '1080p': 2_500_000_000 }, image: 100_000_000 },
  { model: /^/, second: { '480p': 500_000_000, '720p': 700_000_000, '1080p': 1_400_000_000 }, image: 20_000_000 },
];

/** POST /v1/videos/generations, /edits and /extensions, and GET /v1/videos/{request_id}, in xAI's form. */
export async function routeXaiVideos(call: VideoCall): Promise<VideoReply | undefined> {
  const { method, path, headers } = call.request;
  if (method === 'POST' && /^multipart\//i.test(headers['content-type'] ?? ''))
    throw new VendorError(415, { error: 'Expected request with `Content-Type: application/json`' }, 'a form');
  if (method === 'POST' && path === `${root}generations`) return generate(call);
  if (method === 'POST' && path === `${root}edits`) return await edit(call);
  if (method === 'POST' && path === `${root}extensions`) return await extend(call);
  if (method !== 'GET' || !path.startsWith(root)) return undefined;
  const id = path.slice(root.length);
  const job = call.jobs.get(id);
  // This vendor writes its errors in three formats; the first of them is used here.
  if (job === undefined || job.interface !== 'xai-videos')
    throw new VendorError(404, { error: { message: `Video request ${id} was not found.`, type: 'not_found' } }, 'unknown request');
  return { type: 'poll', job, write: (standing) => writeVideo(call, job, standing) };
}

function generate(call: VideoCall): VideoReply {
  const { fields } = call;
  const model = readModel(fields);
  const prompt = readPrompt(fields, fields['image'] !== undefined);
  const duration = readWhole(fields, 'duration', 1, 15, 6);
  const resolution = readWord(fields, 'resolution', Object.keys(resolutions)) ?? '480p';
  if (resolution === '1080p' && !model.startsWith('grok-imagine-video-1.5'))
    throw invalid(`Resolution 1080p is not supported by ${model}.`);
  const ratio = readWord(fields, 'aspect_ratio', aspectRatios);
  const image = fields['image'] === undefined ? undefined : lookAtImage(readUrl(fields, 'image'));
  if (fields['image'] !== undefined && image === undefined) throw invalid('Failed to decode the provided image.');
  const references = recordsOf(fields['reference_images']);
  if (references.length > referencesMax) throw unprocessable(`reference_images: at most ${referencesMax} items are allowed`);
  if (references.length > 0 && image !== undefined) throw invalid('image and reference_images cannot be used together.');
  const looks = references.map((reference) => lookAtImage(asText(reference['url'])));
  if (looks.includes(undefined)) throw invalid('Failed to decode a reference image.');
  const notes = [image, ...looks].flatMap((look) => (look === undefined ? [] : [look.note]));
  const width = ratio === undefined ? (image?.ratio ?? ratioOf('16:9')) : ratioOf(ratio);
  const shape = shapeOf(duration, resolutions[resolution] ?? 480, width);
  return accept(call, { model, prompt, shape, inputs: notes, imageCount: notes.length });
}

async function edit(call: VideoCall): Promise<VideoReply> {
  const { fields } = call;
  for (const name of ['duration', 'aspect_ratio', 'resolution'])
    if (fields[name] !== undefined) throw invalid(`Argument not supported for video editing: ${name}.`);
  const prompt = readPrompt(fields, false);
  const video = await readInput(call);
  const order = { model: readModel(fields), prompt, shape: remixShape(video.facts), inputs: ['edit', video.note], imageCount: 0 };
  return accept(call, order);
}

async function extend(call: VideoCall): Promise<VideoReply> {
  const { fields } = call;
  const prompt = readPrompt(fields, false);
  const duration = readWhole(fields, 'duration', 1, 10, 6);
  const video = await readInput(call);
  const seconds = video.facts?.seconds ?? 5;
  if (seconds < extendable[0] || seconds > extendable[1])
    throw invalid(`The input video must be between ${extendable[0]} and ${extendable[1]} seconds long.`);
  const shape = { ...remixShape(video.facts), frames: framesOf(seconds + duration) };
  return accept(call, { model: readModel(fields), prompt, shape, inputs: ['extension', video.note], imageCount: 0 });
}

function accept(
  call: VideoCall,
  order: {
    readonly model: string;
    readonly prompt: string;
    readonly shape: VideoShape;
    readonly inputs: readonly string[];
    readonly imageCount: number;
  },
): VideoReply {
  const steering = call.fields['simulator'];
  return {
    type: 'accept',
    order: { ...order, id: uuidOf(call.newId()), interface: 'xai-videos' },
    ...(typeof steering === 'string' && { steering }),
    isIdempotent: false,
    write: (job) => ({ status: 200, body: { request_id: job.id } }),
  };
}

function writeVideo(
  call: VideoCall,
  job: VideoJob,
  standing: Parameters<(VideoReply & { type: 'poll' })['write']>[0],
): { readonly status: number; readonly body: Json } {
  const progress = progressOf(job, standing);
  const told = progress === undefined ? {} : { progress };
  // A request that has not been taken up yet is answered without a body.
  if (standing.phase === 'queued' && job.script.word === undefined) return { status: 202, body: '' };
  if ('progress' in standing) return { status: 202, body: { status: job.script.word ?? 'pending', ...told } };
  if (standing.phase === 'expired') return { status: 200, body: { status: 'expired', model: job.model } };
  if (standing.phase === 'failed') {
    const { code = 'internal_error', message = 'The simulated generation failed.' } = job.script;
    return { status: 200, body: { status: 'failed', ...told, model: job.model, error: { code, message } } };
  }
  const isModerated = standing.phase === 'moderated';
  const url = isModerated ? '' : linkOf(job, `${call.origin}${filePath}${job.id}.mp4`);
  const video = { ...(url !== undefined && { url }), duration: roundSeconds(job.shape), respect_moderation: !isModerated };
  return {
    status: 200,
    body: { status: 'done', progress: 100, model: job.model, video, usage: { cost_in_usd_ticks: costOf(job) } },
  };
}

function costOf(job: VideoJob): number {
  const price = ticks.find(({ model }) => model.test(job.model));
  const second = price?.second[resolutionOf(job.shape)] ?? 0;
  return Math.round(secondsOf(job.shape) * second) + job.imageCount * (price?.image ?? 0);
}

/** Whole seconds as such, others to the millisecond. */
function roundSeconds(shape: VideoShape): number {
  return Math.round(secondsOf(shape) * 1000) / 1000;
}

function readModel(fields: JsonRecord): string {
  const { model } = fields;
  if (typeof model !== 'string' || model === '') throw unprocessable('Failed to deserialize the JSON body: missing field `model`');
  if (model.startsWith('missing-')) throw refusal(404, `The model ${model} does not exist or your team does not have access to it.`);
  return model;
}

function readPrompt(fields: JsonRecord, isOptional: boolean): string {
  const { prompt = '' } = fields;
  if (typeof prompt !== 'string') throw unprocessable('Failed to deserialize the JSON body: prompt: invalid type, expected a string');
  if (prompt === '' && !isOptional) throw invalid('A prompt is required.');
  return prompt;
}

function readWhole(fields: JsonRecord, name: string, min: number, max: number, otherwise: number): number {
  const value = fields[name] ?? otherwise;
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw unprocessable(`Failed to deserialize the JSON body: ${name}: expected u32`);
  if (value < min || value > max) throw invalid(`${name} must be between ${min} and ${max}.`);
  return value;
}

function readWord(fields: JsonRecord, name: string, words: readonly string[]): string | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  const found = words.find((word) => word === value);
  if (found === undefined)
    throw unprocessable(`Failed to deserialize the JSON body: ${name}: unknown variant, expected one of ${words.join(', ')}`);
  return found;
}

function readUrl(fields: JsonRecord, name: string): string {
  const value = fields[name];
  const url = isRecord(value) ? value['url'] : undefined;
  if (typeof url !== 'string') throw unprocessable(`Failed to deserialize the JSON body: ${name}: missing field \`url\``);
  return url;
}

async function readInput(call: VideoCall): Promise<VideoInput> {
  const video = await lookAtVideo(readUrl(call.fields, 'video'), call.jobs);
  if (video === undefined) throw invalid('Failed to decode the provided video.');
  return video;
}

function invalid(message: string): VendorError {
  return refusal(400, message);
}

/** The second shape of an error: a sentence as its code, and a text. */
function refusal(status: number, message: string): VendorError {
  const code = status === 404 ? 'Some requested entity was not found' : 'Client specified an invalid argument';
  return new VendorError(status, { code, error: message }, message);
}

/** The third shape: a text alone. */
function unprocessable(message: string): VendorError {
  return new VendorError(422, { error: message }, message);
}

/** An id of 24 letters and digits in the form of a UUID. */
function uuidOf(id: string): string {
  const digits = Buffer.from(id).toString('hex').slice(0, 32);
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');
}
