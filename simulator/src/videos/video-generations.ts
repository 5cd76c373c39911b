import { isRecord } from '../read-json.ts';
import type { Json, JsonRecord, VendorError } from '../simulated-vendor.ts';
import { refuse } from '../vendors/openai/responses-error.ts';
import { lookAtImage, lookAtVideo } from './read-inputs.ts';
import { linkOf, progressOf, type VideoCall, type VideoReply } from './video-call.ts';
import { linkEndsAtMs, standingOf, type VideoJob, type VideoStanding } from './video-jobs.ts';
import { aspectRatios, ratioOf, remixShape, resolutions, secondsOf, shapeOf, type VideoShape } from './video-shape.ts';

const createPath = '/v1/video/generations';
const idPrefix = 'task_';

/**
 * A gateway whose tasks are made by POST /v1/video/generations. Its ids distinguish its tasks from the vendor's own
 * videos, which share paths.
 */
export async function routeVideoGenerations(call: VideoCall): Promise<VideoReply | undefined> {
  const { method, path } = call.request;
  if (path === createPath) return method === 'POST' ? await create(call) : undefined;
  const [, root, id, action] = /^\/v1\/(videos|video\/generations)\/([^/]+)(\/content)?$/.exec(path) ?? [];
  if (id === undefined || (root === 'videos' && !id.startsWith(idPrefix))) return undefined;
  const job = call.jobs.get(id);
  if (job === undefined || job.interface !== 'video-generations')
    throw refuse(`Task ${id} not found.`, { status: 404, code: 'task_not_found' });
  if (action === undefined) {
    if (method !== 'GET') return undefined;
    return { type: 'poll', job, write: (standing) => ({ status: 200, body: writeTask(call, job, standing) }) };
  }
  if (root !== 'videos' || (method !== 'GET' && method !== 'HEAD')) return undefined;
  const { phase } = standingOf(job, call.nowMs);
  if (phase === 'queued' || phase === 'working')
    throw refuse(`Task is not completed yet, current status: ${phase}.`, { code: 'task_not_finished' });
  if (phase !== 'done') throw refuse(`Task ${id} has no video.`, { status: 404, code: 'task_not_found' });
  return { type: 'file', job };
}

async function create(call: VideoCall): Promise<VideoReply> {
  const { fields } = call;
  const { model, prompt } = fields;
  if (typeof model !== 'string' || model === '') throw bad('model is required', 'model');
  if (typeof prompt !== 'string' || prompt === '') throw bad('prompt is required', 'prompt');
  if (model.startsWith('missing-'))
    throw refuse(`The model '${model}' does not exist`, { status: 404, param: 'model', code: 'model_not_found' });
  const metadata = readMetadata(fields['metadata']);
  const { simulator } = metadata;
  const { shape, inputs, imageCount } = metadata['video'] === undefined ? readNew(fields, metadata) : await readRemix(call, metadata);
  return {
    type: 'accept',
    order: {
      id: `${idPrefix}${call.newId()}`,
      interface: 'video-generations',
      model,
      prompt,
      inputs,
      imageCount,
      shape,
    },
    ...(typeof simulator === 'string' && { steering: simulator }),
    isIdempotent: true,
    write: (job) => ({ status: 200, body: { task_id: job.id, ...writeTask(call, job, standingOf(job, call.nowMs)) } }),
  };
}

type Wanted = { readonly shape: VideoShape; readonly inputs: readonly string[]; readonly imageCount: number };

function readNew(fields: JsonRecord, metadata: JsonRecord): Wanted {
  const { image, images } = fields;
  // A form has its numbers as strings.
  const duration = typeof fields['duration'] === 'string' ? Number(fields['duration']) : (fields['duration'] ?? 5);
  if (typeof duration !== 'number' || !Number.isInteger(duration) || duration < 1 || duration > 15)
    throw bad('duration must be an integer from 1 to 15', 'duration');
  const { resolution = '480p', aspect_ratio: ratio } = metadata;
  if (resolution !== '480p' && resolution !== '720p') throw bad('resolution must be 480p or 720p', 'metadata.resolution');
  if (ratio !== undefined && !aspectRatios.some((known) => known === ratio))
    throw bad(`aspect_ratio must be one of ${aspectRatios.join(', ')}`, 'metadata.aspect_ratio');
  if (image !== undefined && images !== undefined) throw bad('use either image or images', 'images');
  const sources = image === undefined ? readImages(images) : [sourceOf(image)];
  const looks = sources.map((source) => {
    const look = source === undefined ? undefined : lookAtImage(source);
    if (look === undefined) throw bad('an input image is neither an address nor a data URI of an image', 'images');
    return look;
  });
  const width = typeof ratio === 'string' ? ratioOf(ratio) : (looks[0]?.ratio ?? ratioOf('16:9'));
  return {
    shape: shapeOf(duration, resolutions[resolution] ?? 480, width),
    inputs: looks.map(({ note }) => note),
    imageCount: looks.length,
  };
}

async function readRemix(call: VideoCall, metadata: JsonRecord): Promise<Wanted> {
  const source = metadata['video'];
  const video = typeof source === 'string' ? await lookAtVideo(source, call.jobs) : undefined;
  if (video === undefined) throw bad('the input video is neither an address nor a data URI of a video', 'metadata.video');
  return { shape: remixShape(video.facts), inputs: ['remix', video.note], imageCount: 0 };
}

/** A form has its metadata as JSON text. */
function readMetadata(value: Json | undefined): JsonRecord {
  if (value === undefined || value === null) return {};
  if (isRecord(value)) return value;
  try {
    const parsed: unknown = JSON.parse(typeof value === 'string' ? value : '');
    if (isRecord(parsed)) return parsed;
  } catch {
    // Refused below, like every other value that is not an object.
  }
  throw bad('metadata must be an object', 'metadata');
}

function readImages(value: Json | undefined): readonly (string | undefined)[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw bad('images must be an array', 'images');
  return value.map(sourceOf);
}

/** A string, or an object that has it as `url` or `image_url`. */
function sourceOf(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  if (!isRecord(value)) return undefined;
  const inner = value['url'] ?? value['image_url'];
  return inner === undefined ? undefined : sourceOf(inner);
}

function writeTask(call: VideoCall, job: VideoJob, standing: VideoStanding): JsonRecord {
  const progress = progressOf(job, standing);
  const isDone = standing.phase === 'done';
  const url = isDone ? linkOf(job, `${call.origin}/v1/videos/${job.id}/content`) : undefined;
  const isRunning = 'progress' in standing;
  return {
    id: job.id,
    object: 'video',
    model: job.model,
    status: statusOf(job, standing),
    ...(progress !== undefined && { progress }),
    created_at: Math.floor(job.submittedAtMs / 1000),
    ...(!isRunning && { completed_at: Math.floor(standing.endedAtMs / 1000) }),
    ...(isDone && { expires_at: Math.floor(linkEndsAtMs(job) / 1000), seconds: String(Math.round(secondsOf(job.shape) * 1000) / 1000) }),
    metadata: url === undefined ? {} : { url },
    ...(!isRunning && !isDone && { error: errorOf(job, standing.phase) }),
  };
}

function statusOf(job: VideoJob, standing: VideoStanding): string {
  if ('progress' in standing) return job.script.word ?? (standing.phase === 'queued' ? 'queued' : 'in_progress');
  return standing.phase === 'done' ? 'completed' : 'failed';
}

function errorOf({ script }: VideoJob, phase: string): Json {
  const usual = {
    moderated: { code: 'content_moderated', message: 'The generated video was withheld by moderation.' },
    expired: { code: 'task_expired', message: 'The simulated generation took too long.' },
  }[phase] ?? { code: 'upstream_failed', message: 'The simulated generation failed.' };
  return { code: script.code ?? usual.code, message: script.message ?? usual.message };
}

function bad(message: string, param: string): VendorError {
  return refuse(message, { param, code: 'invalid_request' });
}
