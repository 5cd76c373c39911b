import { isRecord } from '../read-json.ts';
import type { Json, JsonRecord } from '../simulated-vendor.ts';
import { refuse } from '../vendors/openai/responses-error.ts';
import { lookAtImage } from './read-inputs.ts';
import { progressOf, type VideoCall, type VideoReply } from './video-call.ts';
import { linkEndsAtMs, standingOf, type VideoJob, type VideoStanding } from './video-jobs.ts';
import { framesOf, secondsOf } from './video-shape.ts';

const root = '/v1/videos';
const secondsAllowed = ['4', '8', '12'];
const sizes = ['720x1280', '1280x720'];
const largeSizes = [...sizes, '1024x1792', '1792x1024'];
const promptCharactersMax = 32_000;
const pageMax = 100;

/** POST, GET and DELETE /v1/videos, /remix and /content, in OpenAI's form. */
export function routeOpenaiVideos(call: VideoCall): VideoReply | undefined {
  const { method, path } = call.request;
  if (path === root) {
    if (method === 'POST') return create(call);
    return method === 'GET' ? list(call) : undefined;
  }
  const [, id, action] = /^\/v1\/videos\/([^/]+)(?:\/([a-z]+))?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  const job = call.jobs.get(id);
  if (job === undefined || job.interface !== 'openai-videos' || job.deleted)
    throw refuse(`Video with id '${id}' not found.`, { status: 404, code: 'video_not_found' });
  switch (`${method} ${action ?? ''}`.trim()) {
    case 'GET':
      return { type: 'poll', job, write: (standing) => ({ status: 200, body: writeVideo(job, standing) }) };
    case 'DELETE':
      return remove(call, job);
    case 'POST remix':
      return remix(call, job);
    case 'GET content':
    case 'HEAD content':
      return openContent(call, job);
    default:
      return undefined;
  }
}

function create(call: VideoCall): VideoReply {
  const { fields } = call;
  const model = fields['model'] ?? 'sora-2';
  if (typeof model !== 'string') throw refuse("Invalid type for 'model': expected a string.", { param: 'model', code: 'invalid_type' });
  if (model.startsWith('missing-'))
    throw refuse(`The model '${model}' does not exist`, { status: 404, param: 'model', code: 'model_not_found' });
  const seconds = readChoice(fields, 'seconds', secondsAllowed);
  const size = readChoice(fields, 'size', /^sora-2$/.test(model) ? sizes : largeSizes);
  const [width = 720, height = 1280] = size.split('x').map(Number);
  const image = readReference(fields['input_reference']);
  return accept(call, {
    model,
    prompt: readPrompt(fields),
    inputs: image === undefined ? [] : [image],
    imageCount: image === undefined ? 0 : 1,
    shape: { width, height, frames: framesOf(Number(seconds)) },
    echo: { seconds, size, remixed_from_video_id: null },
  });
}

function remix(call: VideoCall, from: VideoJob): VideoReply {
  if (standingOf(from, call.nowMs).phase !== 'done') throw refuse('The video to remix is not completed.', { code: 'video_not_completed' });
  return accept(call, {
    model: from.model,
    prompt: readPrompt(call.fields),
    inputs: [`remix of a simulated video, ${secondsOf(from.shape).toFixed(2)} s`],
    imageCount: 0,
    shape: from.shape,
    echo: { ...from.echo, remixed_from_video_id: from.id },
  });
}

function accept(call: VideoCall, order: Omit<(VideoReply & { type: 'accept' })['order'], 'id' | 'interface'>): VideoReply {
  const steering = call.fields['simulator'];
  return {
    type: 'accept',
    order: { ...order, id: `video_${call.newId()}`, interface: 'openai-videos' },
    ...(typeof steering === 'string' && { steering }),
    isIdempotent: false,
    write: (job) => ({ status: 200, body: writeVideo(job, { phase: 'queued', progress: 0 }) }),
  };
}

function list({ request, jobs, nowMs }: VideoCall): VideoReply {
  const after = request.query.get('after');
  const order = request.query.get('order') ?? 'desc';
  const limit = Number(request.query.get('limit') ?? 20);
  if (order !== 'asc' && order !== 'desc') throw refuse("Invalid value: 'order' must be 'asc' or 'desc'.", { param: 'order' });
  if (!Number.isInteger(limit) || limit < 0 || limit > pageMax)
    throw refuse(`Invalid 'limit': must be from 0 to ${pageMax}.`, { param: 'limit' });
  const oldestFirst = jobs.list().filter((job) => job.interface === 'openai-videos' && !job.deleted);
  const all = order === 'asc' ? oldestFirst : oldestFirst.toReversed();
  const start = after === null ? 0 : all.findIndex((job) => job.id === after) + 1;
  if (after !== null && start === 0) throw refuse(`Video with id '${after}' not found.`, { status: 404, param: 'after' });
  const page = all.slice(start, start + limit);
  const data = page.map((job) => writeVideo(job, standingOf(job, nowMs)));
  const ends = { first_id: page.at(0)?.id ?? null, last_id: page.at(-1)?.id ?? null };
  return { type: 'json', status: 200, body: { object: 'list', data, ...ends, has_more: start + limit < all.length } };
}

function remove({ nowMs }: VideoCall, job: VideoJob): VideoReply {
  if ('progress' in standingOf(job, nowMs))
    throw refuse('A video that is being made cannot be deleted.', { status: 409, code: 'video_in_progress' });
  job.deleted = true;
  return { type: 'json', status: 200, body: { id: job.id, object: 'video.deleted', deleted: true } };
}

function openContent({ request, nowMs }: VideoCall, job: VideoJob): VideoReply {
  const variant = request.query.get('variant') ?? 'video';
  if (variant !== 'video') throw refuse(`The simulator makes no '${variant}' of a video.`, { param: 'variant' });
  const { phase } = standingOf(job, nowMs);
  if (phase !== 'done')
    throw refuse('Video is not ready yet, use GET /v1/videos/{video_id} to check status.', {
      status: phase === 'queued' || phase === 'working' ? 400 : 404,
      code: 'video_not_ready',
    });
  return { type: 'file', job };
}

function writeVideo(job: VideoJob, standing: VideoStanding): JsonRecord {
  const progress = progressOf(job, standing);
  const isRunning = 'progress' in standing;
  const isDone = standing.phase === 'done';
  return {
    id: job.id,
    object: 'video',
    created_at: Math.floor(job.submittedAtMs / 1000),
    status: statusOf(job, standing),
    completed_at: isRunning ? null : Math.floor(standing.endedAtMs / 1000),
    error: isRunning || isDone ? null : errorOf(job, standing.phase),
    expires_at: isDone ? Math.floor(linkEndsAtMs(job) / 1000) : null,
    model: job.model,
    ...(progress !== undefined && { progress }),
    prompt: job.prompt,
    ...job.echo,
  };
}

function statusOf(job: VideoJob, standing: VideoStanding): string {
  if ('progress' in standing) return job.script.word ?? (standing.phase === 'queued' ? 'queued' : 'in_progress');
  return standing.phase === 'done' ? 'completed' : 'failed';
}

function errorOf(job: VideoJob, phase: string): Json {
  const usual = {
    moderated: { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' },
    expired: { code: 'expired', message: 'The simulated generation took too long.' },
  }[phase] ?? { code: 'video_generation_failed', message: 'The simulated generation failed.' };
  return { code: job.script.code ?? usual.code, message: job.script.message ?? usual.message };
}

function readPrompt({ prompt }: JsonRecord): string {
  if (typeof prompt !== 'string' || prompt === '')
    throw refuse("Missing required parameter: 'prompt'.", { param: 'prompt', code: 'missing_required_parameter' });
  if (prompt.length > promptCharactersMax)
    throw refuse(`Invalid 'prompt': string too long, at most ${promptCharactersMax} characters.`, {
      param: 'prompt',
      code: 'string_above_max_length',
    });
  return prompt;
}

/**
 * A member that may be one of a few strings, the first if absent. A number in place of a string is refused, as by the
 * vendor.
 */
function readChoice(fields: JsonRecord, name: string, allowed: readonly string[]): string {
  const value = fields[name] ?? allowed[0] ?? '';
  if (typeof value === 'string' && allowed.includes(value)) return value;
  const supported = allowed.map((word) => `'${word}'`).join(', ');
  throw refuse(`Invalid value: ${JSON.stringify(value)}. Supported values are: ${supported}.`, { param: name, code: 'invalid_value' });
}

/**
 * The description of a reference that is drawn into the video: a file of a form is already a data URI, an object names
 * an address or a file.
 */
function readReference(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (isRecord(value) && typeof value['file_id'] === 'string') return `image file ${value['file_id']}`;
  const source = isRecord(value) ? value['image_url'] : value;
  const look = typeof source === 'string' ? lookAtImage(source) : undefined;
  if (look === undefined)
    throw refuse("Invalid 'input_reference': it is no image that can be read.", { param: 'input_reference', code: 'invalid_image' });
  return look.note;
}
