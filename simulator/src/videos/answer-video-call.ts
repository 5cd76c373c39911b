import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkCredential, chooseFault, observe, receiveCall, refuse, type Call } from '../answer-call.ts';
import { applyFault } from '../apply-fault.ts';
import { preventsAnswer } from '../faults.ts';
import { asText } from '../read-json.ts';
import { deriveId } from '../seeded-random.ts';
import { VendorError, type SimulatedVendor } from '../simulated-vendor.ts';
import type { SimulatorState } from '../simulator-state.ts';
import { readPromptSteering, readSteering } from '../steering.ts';
import { toJsonReply, type WireReply } from '../wire-reply.ts';
import { writeReply } from '../write-reply.ts';
import { routeGeminiVideos } from './google-videos.ts';
import { routeOpenaiVideos } from './openai-videos.ts';
import { serveVideo } from './serve-video.ts';
import { filePath, type JsonAnswer, type VideoCall, type VideoReply, type VideoRoutes } from './video-call.ts';
import { routeVideoGenerations } from './video-generations.ts';
import { createJob, digestOf, standingOf, type VideoJob } from './video-jobs.ts';
import { readFields } from './read-fields.ts';
import { readVideoScript } from './video-script.ts';
import { routeXaiVideos } from './xai-videos.ts';

/** The part of a vendor's server that generates videos. */
export type VideoDesk = {
  readonly takes: (request: IncomingMessage) => boolean;
  /** Resolves when the reply has ended; never rejects. */
  readonly answer: (incoming: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<void>;
};

/** The stored part of a prompt, in characters. */
const promptCharactersMax = 32_000;
const paths = /^\/(v1\/videos|v1\/video\/generations|simulated-videos)([/?]|$)/;
const googlePaths = /^\/(v1(beta|alpha)?\/(models\/[^/]+(:predictLongRunning|\/operations\/)|files\/[^/]+:download)|simulated-videos\/)/;

const routesOf: { readonly [Name in SimulatedVendor['name']]?: VideoRoutes } = {
  xai: routeXaiVideos,
  gemini: routeGeminiVideos,
  openai: async (call) => (await routeVideoGenerations(call)) ?? routeOpenaiVideos(call),
};

/** The video handler of a vendor; undefined for vendors without videos. */
export function createVideoDesk(state: SimulatorState, vendor: SimulatedVendor): VideoDesk | undefined {
  const routes = routesOf[vendor.name];
  return routes === undefined ? undefined : createDeskOf(state, vendor, routes);
}

/** A video handler with routes of its own. */
export function createDeskOf(state: SimulatorState, vendor: SimulatedVendor, routes: VideoRoutes): VideoDesk {
  const own = vendor.name === 'gemini' ? googlePaths : paths;
  return {
    takes: ({ url = '' }) => own.test(url),
    async answer(incoming, response, body) {
      const call = receiveCall(state, vendor, incoming, body);
      const outcome = await produce(call, routes, body, originOf(incoming));
      if (outcome.type === 'file') return await serveVideo(call, outcome.job, response);
      const headers = { ...vendor.commonHeaders?.(call.request), ...outcome.wire.headers };
      await writeReply(response, { ...outcome.wire, headers }, state.pace, observe(call, outcome.wire, outcome.isRefused));
    },
  };
}

type Outcome =
  | { readonly type: 'file'; readonly job: VideoJob }
  | { readonly type: 'wire'; readonly wire: WireReply; readonly isRefused: boolean };

async function produce(call: Call, routes: VideoRoutes, body: Buffer, origin: string): Promise<Outcome> {
  const { request, vendor, state } = call;
  try {
    call.steering = readSteering(request.headers);
    if (request.path.startsWith(filePath)) return findFile(call);
    checkCredential(call);
    const fields = await readFields(request, body);
    if (fields === undefined) throw vendorError(call, 400, 'We could not parse the body of your request.');
    const same = `${vendor.name} ${request.path} ${digestOf(body.toString('latin1'))}`;
    const videoCall: VideoCall = {
      request,
      fields,
      credential: digestOf(call.credential),
      origin,
      nowMs: request.nowMs ?? 0,
      jobs: state.videoJobs,
      newId: () => deriveId(`${state.seed}/${same}/${state.numberCall(`video ${same}`)}`),
    };
    const reply = await routes(videoCall);
    if (reply === undefined) return { type: 'wire', wire: toJsonReply(404, vendor.notFoundBody(request)), isRefused: true };
    if (reply.type === 'accept') call.steering = { ...readPromptSteering(reply.order.prompt), ...call.steering };
    return settle(call, videoCall, reply);
  } catch (error) {
    return { type: 'wire', wire: refuse(error, vendor, request), isRefused: true };
  }
}

/** Applies the fault of the call, and keeps the call's effects unless the fault precedes them. */
function settle(call: Call, videoCall: VideoCall, reply: VideoReply): Outcome {
  const fault = chooseFault(call);
  const isPrevented = preventsAnswer(fault);
  if (reply.type === 'file' && !isPrevented) return reply;
  const wire = isPrevented ? toJsonReply(200, {}) : answer(call, videoCall, reply);
  const { vendor, request, credential, record } = call;
  const struck = fault === undefined ? wire : applyFault(wire, fault, { vendor, request, credential, requestId: record.requestId });
  return { type: 'wire', wire: struck, isRefused: wire.status >= 400 };
}

function answer(call: Call, videoCall: VideoCall, reply: VideoReply): WireReply {
  if (reply.type === 'accept') return accept(call, videoCall, reply);
  if (reply.type === 'poll') return poll(call, videoCall, reply);
  return reply.type === 'json' ? toJsonReply(reply.status, reply.body) : toJsonReply(404, call.vendor.notFoundBody(call.request));
}

function accept(call: Call, videoCall: VideoCall, reply: VideoReply & { type: 'accept' }): WireReply {
  const { state, vendor, request } = call;
  const bodySha256 = hash('sha256', JSON.stringify(videoCall.fields));
  const key = reply.isIdempotent ? request.headers['idempotency-key'] : undefined;
  const earlier = key === undefined ? undefined : state.videoJobs.findByKey(reply.order.interface, videoCall.credential, key);
  if (earlier !== undefined && earlier.bodySha256 !== bodySha256)
    throw vendorError(call, 409, 'This idempotency key was used for another request.');
  if (earlier !== undefined) earlier.submissions += 1;
  const job = earlier ?? keepNew(call, videoCall, reply, { bodySha256, key });
  call.record.model = job.model;
  const written = writeJson(reply.write(job));
  // Only the first answer is lost: a submission that is repeated under its key gets the job.
  const { accept: how, acceptMs = 0 } = earlier === undefined ? job.script : {};
  if (how === 'cut') return { ...written, beforeHeaders: { type: 'wait', ms: acceptMs, afterwards: 'reset' } };
  const said =
    typeof how === 'number' ? toJsonReply(how, vendor.errorBody(how, 'The simulated vendor lost its way after accepting.')) : written;
  const wire = how === 'empty' ? { ...said, pieces: [''] } : said;
  return acceptMs === 0 ? wire : { ...wire, beforeHeaders: { type: 'wait', ms: acceptMs, afterwards: 'go-on' } };
}

function keepNew(
  call: Call,
  videoCall: VideoCall,
  { order, steering = '' }: VideoReply & { type: 'accept' },
  { bodySha256, key }: { readonly bodySha256: string; readonly key: string | undefined },
): VideoJob {
  const { state, vendor } = call;
  const script = { ...state.videoScript, ...readVideoScript(steering), ...readVideoScript(call.steering.video ?? '') };
  const job = createJob(
    {
      ...order,
      prompt: order.prompt.slice(0, promptCharactersMax),
      vendor: vendor.name,
      bodySha256,
      credential: videoCall.credential,
      submittedAtMs: videoCall.nowMs,
      ...(key !== undefined && { idempotencyKey: key }),
    },
    script,
  );
  state.videoJobs.add(job);
  return job;
}

function poll(call: Call, videoCall: VideoCall, { job, write }: VideoReply & { type: 'poll' }): WireReply {
  job.polls += 1;
  if (videoCall.credential !== job.credential) job.pollsByOthers += 1;
  const { poll: how, pollTimes = Number.POSITIVE_INFINITY } = job.script;
  if (how !== undefined && job.polls <= pollTimes) return spoil(call, how);
  const standing = standingOf(job, videoCall.nowMs);
  if ('endedAtMs' in standing) job.endsTold += 1;
  return writeJson(write(standing));
}

/** An answer to a poll without information about the job. */
function spoil({ vendor, request }: Call, how: number | 'empty' | 'html' | 'reset'): WireReply {
  if (how === 404) return toJsonReply(404, vendor.notFoundBody(request));
  if (typeof how === 'number') return toJsonReply(how, vendor.errorBody(how, 'The simulated vendor is not able to say.'));
  const nothing: WireReply = { ...toJsonReply(200, ''), pieces: [''] };
  if (how === 'empty') return nothing;
  if (how === 'reset') return { ...nothing, beforeHeaders: { type: 'reset' } };
  return { ...nothing, headers: { 'content-type': 'text/html' }, pieces: ['<html><body>A simulated proxy was here.</body></html>'] };
}

function findFile(call: Call): Outcome {
  const { request, state } = call;
  const id = /^([\w-]+)\.mp4$/.exec(request.path.slice(filePath.length))?.[1];
  const job = state.videoJobs.get(id ?? '');
  if (job !== undefined && !job.deleted && (request.method === 'GET' || request.method === 'HEAD')) return { type: 'file', job };
  return { type: 'wire', wire: toJsonReply(404, call.vendor.notFoundBody(request)), isRefused: true };
}

/** JSON, or a body that is empty on purpose. */
function writeJson({ status, body }: JsonAnswer): WireReply {
  const wire = toJsonReply(status, body);
  return body === '' ? { ...wire, pieces: [''] } : wire;
}

function vendorError({ vendor, request }: Call, status: number, message: string): VendorError {
  return new VendorError(status, vendor.errorBody(status, message, request.requestId), message);
}

/** The address at which the caller reached the simulator, so that its links work for this caller. */
function originOf(incoming: IncomingMessage): string {
  return `http://${asText(incoming.headers.host) || `127.0.0.1:${incoming.socket.localPort}`}`;
}
