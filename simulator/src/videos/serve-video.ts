import { hash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../answer-call.ts';
import { renderVideo } from '../media/render-video.ts';
import { filePath } from './video-call.ts';
import { linkEndsAtMs, standingOf, type VideoJob } from './video-jobs.ts';

const hugeBytes = 5_000_000_000;
const slowRate = 2000;
const slowTickMs = 50;
const zeros = new Uint8Array(65_536);
/** The maximum duration of a download. */
const serveMsMax = 600_000;

/** The answer: a head, and bytes that are generated while they are read. */
type Serving = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** How it ends before its full length. */
  readonly breaksOff?: 'reset' | 'stall';
};

/**
 * Serves the file of a job, with ranges, or the replacement in its script, and records the end of the call. Resolves
 * when the reply has ended; never rejects. The caller has checked the access.
 */
export async function serveVideo(call: Call, job: VideoJob, response: ServerResponse): Promise<void> {
  const { record, state } = call;
  const leave = new AbortController();
  response.once('close', () => leave.abort());
  const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(serveMsMax)]);
  let ending: 'completed' | 'faulted' | 'client-closed' | 'refused' = 'client-closed';
  try {
    job.downloads += 1;
    const serving = await choose(call, job);
    response.writeHead(serving.status, serving.headers);
    record.status = serving.status;
    record.headersAtMs = state.clock.nowMs();
    if (call.request.method !== 'HEAD') {
      for await (const chunk of serving.bytes) {
        signal.throwIfAborted();
        if (!response.write(chunk)) await once(response, 'drain', { signal });
      }
    }
    if (serving.breaksOff === undefined) response.end();
    else await breakOff(response, serving.breaksOff, signal);
    const isFaulty = serving.breaksOff !== undefined || job.script.content !== undefined;
    if (serving.status >= 400) ending = 'refused';
    else ending = isFaulty ? 'faulted' : 'completed';
  } catch {
    // The client has disconnected, or the file could not be generated; in both cases the connection is useless.
    response.destroy();
  }
  state.records.end(record, ending, state.clock.nowMs());
}

async function breakOff(response: ServerResponse, how: 'reset' | 'stall', signal: AbortSignal): Promise<void> {
  // Written bytes must be sent before the reset would discard them.
  await sleep(20, undefined, { signal });
  if (how === 'stall') await once(response, 'close', { signal });
  else response.socket?.resetAndDestroy();
}

async function choose(call: Call, job: VideoJob): Promise<Serving> {
  const { request, state, vendor } = call;
  const { script } = job;
  const refuse = (status: number, message: string): Serving =>
    inOnePiece(status, 'application/json', JSON.stringify(vendor.errorBody(status, message)));
  const nowMs = state.clock.nowMs();
  if (standingOf(job, nowMs).phase !== 'done') return refuse(404, 'There is no such video.');
  if (nowMs >= linkEndsAtMs(job)) return refuse(410, 'This link has expired.');
  if (script.link === 'dead') return refuse(404, 'There is no such video.');
  const isDirect = request.query.has('direct');
  if (script.link === 'redirect' && !isDirect) return redirectTo(`${filePath}${job.id}.mp4?direct=1`);
  if (script.link === 'redirect-inside') return redirectTo('http://169.254.169.254/latest/meta-data/');
  if (typeof script.content === 'number') return refuse(script.content, 'The simulated storage is not able to serve this.');
  const file = await renderVideo({
    model: job.model,
    prompt: job.prompt.replace(/\[\[simulator [^\]]*\]\]/g, ' '),
    inputs: job.inputs,
    ...job.shape,
  });
  return spoil(job, file) ?? serveRange(call, job, file);
}

/** The file with the changes of its script; undefined without changes. */
function spoil(job: VideoJob, file: Uint8Array): Serving | undefined {
  const { script } = job;
  const { content } = script;
  // A status was answered before.
  if (content === undefined || typeof content === 'number') return undefined;
  const headers = { 'content-type': script.contentType ?? 'video/mp4', 'content-length': String(file.length) };
  const half = [file.subarray(0, file.length >> 1)];
  switch (content) {
    case 'short':
      return { status: 200, headers, bytes: half, breaksOff: 'reset' };
    case 'stall':
      return { status: 200, headers, bytes: half, breaksOff: 'stall' };
    case 'slow':
      return { status: 200, headers, bytes: drip(file, () => job.script.contentRate ?? slowRate) };
    case 'huge': {
      const length = Math.max(script.contentBytes ?? hugeBytes, file.length + 16);
      return { status: 200, headers: { ...headers, 'content-length': String(length) }, bytes: enlarge(file, length) };
    }
    case 'html':
      return inOnePiece(200, 'text/html', '<html><body>A simulated sign-in page.</body></html>');
    case 'garbage':
      return inOnePiece(200, 'video/mp4', 'These simulated bytes are no video. '.repeat(100));
    case 'empty':
      return inOnePiece(200, 'video/mp4', '');
    case 'no-length':
      return { status: 200, headers: { 'content-type': headers['content-type'] }, bytes: [file] };
  }
}

/**
 * The whole file, or the one requested range (RFC 9110, section 14). Several ranges are answered with the whole file.
 */
function serveRange({ request, state }: Call, job: VideoJob, file: Uint8Array): Serving {
  const etag = `"${hash('sha256', file).slice(0, 32)}"`;
  const secondsLeft = Math.max(0, Math.floor((linkEndsAtMs(job) - state.clock.nowMs()) / 1000));
  const headers = {
    'content-type': job.script.contentType ?? 'video/mp4',
    'accept-ranges': 'bytes',
    'cache-control': `public, max-age=${secondsLeft}`,
    etag,
  };
  const ifRange = request.headers['if-range'];
  const range = ifRange === undefined || ifRange === etag ? /^bytes=(\d*)-(\d*)$/.exec(request.headers['range'] ?? '') : null;
  const [, from = '', to = ''] = range ?? [];
  if (from === '' && to === '') return { status: 200, headers: { ...headers, 'content-length': String(file.length) }, bytes: [file] };
  const start = from === '' ? Math.max(0, file.length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? file.length : Math.min(file.length, Number(to) + 1);
  if (from !== '' && to !== '' && Number(to) < start)
    return { status: 200, headers: { ...headers, 'content-length': String(file.length) }, bytes: [file] };
  if (start >= file.length)
    return { status: 416, headers: { 'content-range': `bytes */${file.length}`, 'content-length': '0' }, bytes: [] };
  const part = { 'content-range': `bytes ${start}-${end - 1}/${file.length}`, 'content-length': String(end - start) };
  return { status: 206, headers: { ...headers, ...part }, bytes: [file.subarray(start, end)] };
}

/**
 * The file and, up to a length, a box that every player skips, so that it is playable at any size. Generated while it
 * is read.
 */
function* enlarge(file: Uint8Array, length: number): Generator<Uint8Array> {
  yield file;
  const box = Buffer.alloc(16);
  box.writeUInt32BE(1, 0);
  box.write('free', 4);
  box.writeBigUInt64BE(BigInt(length - file.length), 8);
  yield box;
  for (let left = length - file.length - box.length; left > 0; left -= zeros.length) yield zeros.subarray(0, Math.min(left, zeros.length));
}

/** The rate is read for each piece, so that a running download can be changed, too. */
async function* drip(file: Uint8Array, rateNow: () => number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.length;) {
    const rate = rateNow();
    const step = Math.max(1, Math.floor((rate * slowTickMs) / 1000));
    yield file.subarray(start, start + step);
    start += step;
    await sleep((step * 1000) / rate);
  }
}

function inOnePiece(status: number, type: string, body: string): Serving {
  const bytes = Buffer.from(body);
  return { status, headers: { 'content-type': type, 'content-length': String(bytes.length) }, bytes: [bytes] };
}

function redirectTo(location: string): Serving {
  return { status: 302, headers: { location, 'content-length': '0' }, bytes: [] };
}
