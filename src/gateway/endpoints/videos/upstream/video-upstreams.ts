import type { UpstreamVideo, VideoProtocol } from '../../../../dialects/video-tasks/video-protocol.ts';
import { isModeration, messageCharactersMax } from '../../../../dialects/upstream-error.ts';
import { type Answer, AskError, askUpstream } from '../../../../platform/http/ask-upstream.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { ResultError, type TaskReport, type VideoUpstreams } from '../../../../tasks/video-upstreams.ts';
import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';
import { findTaskUpstream, type VideoProtocols } from './find-task-upstream.ts';
import { decodeResult, encodeResult, type OpenAddress, openResult } from './open-result.ts';
import type { StreamTimeouts } from './stream-upstream.ts';
import { askWithoutFile } from './ask-without-file.ts';
import { createVideoRequest } from './video-request.ts';

export type VideoUpstreamsOptions = {
  /** The current routing table, so that a renewed credential is used at once. */
  readonly routing: () => Pick<RoutingTable, 'upstreams'>;
  readonly protocols: VideoProtocols;
  readonly openAddress: OpenAddress;
  /** Timeouts of file bodies. */
  readonly timeouts: () => StreamTimeouts;
};

/** The timeout of a poll, whose answer has a few hundred bytes. The next poll follows. */
const askTimeoutMs = 30_000;
/** A submission may contain images. */
const submitTimeoutMs = 120_000;

const jsonHeaders = { 'content-type': 'application/json' };

type Told = { readonly answer: Answer } | { readonly reading: TaskReport };

function unclear(reason: string, isOurs = false): TaskReport {
  return { status: 'unclear', reason, isOurs };
}

/** Converts an upstream's status into a report of the task. */
export function toReading(video: UpstreamVideo): TaskReport {
  if (video.status === 'unclear') return unclear(video.reason);
  return video.status === 'completed' ? { ...video, result: encodeResult(video.result) } : video;
}

/** Whether a refusal is about the request and not about the caller. */
function isAboutContent({ status, body }: Answer): boolean {
  return isModeration({ status, message: body.toString('utf8', 0, messageCharactersMax), words: [] });
}

/**
 * Sends a request. Failures of the network, of the upstream's servers and of the credential prove nothing about a task.
 */
async function tell(
  upstream: Upstream,
  request: UpstreamRequest,
  timeoutMs: number,
  signal: AbortSignal,
  ask: typeof askUpstream = askUpstream,
): Promise<Told> {
  try {
    const answer = await ask(upstream.client, request, { timeoutMs, signal });
    const { status } = answer;
    if ((status === 401 || status === 403 || status === 407) && !isAboutContent(answer))
      return { reading: unclear(`the upstream "${upstream.id}" refuses the credential (${status})`, true) };
    if (status === 429 || status >= 500) return { reading: unclear(`the upstream answers ${status}`) };
    return { answer };
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return { reading: unclear(`the upstream gives no answer (${error.code})`) };
  }
}

/** Reads untrusted bytes. An answer that cannot be read must not end a task. */
function readSafely<Result>(read: () => Result, fallback: Result): Result {
  try {
    return read();
  } catch {
    // The report is unclear: the task continues, and an operator gets an alert.
    return fallback;
  }
}

function readStatus(protocol: VideoProtocol, answer: Answer, upstreamTaskId: string): TaskReport {
  return readSafely(
    () => toReading(protocol.readStatus(answer, upstreamTaskId)),
    unclear('the answer of the upstream cannot be read', true),
  );
}

/** Polls and submits tasks. These requests do not count for the limits of clients or the health of targets. */
export function createVideoUpstreams(options: VideoUpstreamsOptions): VideoUpstreams {
  const { routing, protocols, openAddress, timeouts } = options;
  return {
    ask: async (task, signal) => {
      const found = findTaskUpstream(routing(), protocols, task);
      if ('problem' in found) return unclear(found.problem, true);
      const { upstreamTaskId } = task;
      if (upstreamTaskId === undefined) return unclear('the upstream gave no task id', true);
      const { upstream, protocol } = found;
      const body = protocol.statusBody?.(upstreamTaskId);
      const path = protocol.statusPath(upstreamTaskId);
      const asked =
        body === undefined ? ({ method: 'GET', path } as const) : ({ method: 'POST', path, headers: jsonHeaders, body } as const);
      const request = createVideoRequest(upstream, asked);
      const ask = protocol.statusHasFile === true ? askWithoutFile : askUpstream;
      const told = await tell(upstream, request, askTimeoutMs, signal, ask);
      return 'answer' in told ? readStatus(protocol, told.answer, upstreamTaskId) : told.reading;
    },
    submitAgain: async (task, { submission }, signal) => {
      if (submission === undefined) return undefined;
      const found = findTaskUpstream(routing(), protocols, task);
      if ('problem' in found) return 'unclear';
      const { upstream, protocol } = found;
      if (!protocol.isIdempotent) return undefined;
      const { path, bodyBase64 } = submission;
      const headers = { ...submission.headers, 'idempotency-key': task.callId };
      const request = createVideoRequest(upstream, { method: 'POST', path, headers, body: Buffer.from(bodyBase64, 'base64') });
      const told = await tell(upstream, request, submitTimeoutMs, signal);
      if (!('answer' in told)) return 'unclear';
      const { answer } = told;
      const said = readSafely(() => protocol.readSubmission(answer), { type: 'unclear', reason: 'it cannot be read' });
      return said.type === 'accepted' ? { upstreamTaskId: said.upstreamTaskId, reading: toReading(said.video) } : said.type;
    },
    openResult: async (task, text, signal) => {
      const found = findTaskUpstream(routing(), protocols, task);
      if ('problem' in found) throw new ResultError(found.problem, { isGone: false });
      const isConfigured = (origin: string): boolean => routing().upstreams.some((upstream) => upstream.origin === origin);
      return openResult(decodeResult(text), { upstream: found.upstream, timeouts: timeouts(), openAddress, isConfigured, signal });
    },
  };
}
