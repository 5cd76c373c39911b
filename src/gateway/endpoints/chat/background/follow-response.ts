import { openaiResponses } from '../../../../dialects/openai-responses/openai-responses.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import { type EventSource, createEventSource } from './event-source.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { encodeSse } from '../../../../platform/sse/encode-sse.ts';
import { requestIdHeader } from '../../../replies/write-reply.ts';
import type { GatewayTimeouts } from '../../../settings/limits.ts';
import { typeOfEvent } from './response-events.ts';

/** A request for the events of a stored response of the caller. */
export type EventsRequest = {
  readonly userName: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly callId: string;
  readonly response: ClientReply;
};

/**
 * `GET /v1/responses/{id}?stream=true&starting_after=N`: the stored events after N and then new ones, until the last.
 * @throws GatewayError `invalid_value` before anything was written
 */
export async function followResponse(
  gateway: Pick<ChatServices, 'background' | 'clock' | 'settings'>,
  { userName, id, query, callId, response }: EventsRequest,
): Promise<void> {
  const after = readStartingAfter(query);
  const { background, clock } = gateway;
  if (background === undefined) throw new GatewayError('responses_unavailable', 'responses are not stored here');
  const source = createEventSource(background, { userName, id });
  const { timeouts } = gateway.settings();
  await writeFollowed(response, { source, after, callId, timeouts, heartbeat: openaiResponses.voice.heartbeat('sse'), clock });
}

/** @throws GatewayError `invalid_value` if `starting_after` is not the number of an event */
function readStartingAfter(query: URLSearchParams): number {
  const text = query.get('starting_after');
  if (text === null || text === '') return -1;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new GatewayError('invalid_value', `Invalid 'starting_after': expected the number of an event, but got '${text.slice(0, 40)}'.`, {
    param: 'starting_after',
  });
}

export type FollowOptions = {
  readonly source: EventSource;
  /** The number of the last event that the client has; -1 for none. */
  readonly after: number;
  readonly callId: string;
  readonly timeouts: Pick<GatewayTimeouts, 'heartbeatMs' | 'stalledReaderMs' | 'totalMs'>;
  readonly heartbeat: Buffer;
  readonly clock: Clock;
};

/**
 * Streams the events of a response at the pace of the client, until the last one. A client that disconnects or does not
 * read ends only this stream. Rejects as the source does, after it has destroyed the connection: a stream that ended
 * would look complete.
 */
export async function writeFollowed(
  reply: ClientReply,
  { source, after, callId, timeouts, heartbeat, clock }: FollowOptions,
): Promise<void> {
  const left = new AbortController();
  reply.on('close', () => left.abort());
  if (reply.destroyed) return;
  const endsByMs = clock.monotonicMs() + timeouts.totalMs;
  reply.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', [requestIdHeader]: callId });
  let at = after;
  let writtenMs = clock.monotonicMs();
  try {
    for (;;) {
      const { events, ended } = await source.next(at, left.signal);
      if (left.signal.aborted || reply.destroyed) return;
      at += events.length;
      const nowMs = clock.monotonicMs();
      const isQuiet = events.length === 0;
      if (!isQuiet || nowMs - writtenMs >= timeouts.heartbeatMs) {
        writtenMs = nowMs;
        const bytes = isQuiet ? heartbeat : Buffer.concat(events.map((data) => encodeSse({ event: typeOfEvent(data), data })));
        if (!reply.write(bytes) && !(await drained(reply, timeouts.stalledReaderMs, left.signal))) return void reply.destroy();
      }
      if (ended) return void reply.end();
      if (nowMs >= endsByMs) return void reply.destroy();
    }
  } catch (error) {
    reply.destroy();
    throw error;
  }
}

/** Whether the client reads again in time. */
function drained(reply: ClientReply, waitMs: number, left: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (reads: boolean): void => {
      clearTimeout(timer);
      resolve(reads);
    };
    const timer = setTimeout(() => settle(false), waitMs);
    reply.once('drain', () => settle(true));
    left.addEventListener('abort', () => settle(false), { once: true });
    if (left.aborted) settle(false);
  });
}
