import { encodeAudioStreamError } from '../../../dialects/openai-audio/audio-errors.ts';
import { speechContentTypes } from '../../../dialects/openai-audio/audio-formats.ts';
import { type AudioStreamEvent, readAudioStreamEvent } from '../../../dialects/openai-audio/read-stream-event.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { type Frame, FrameTooLargeError } from '../../../platform/frames.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { Delivered, Delivery } from './audio-job.ts';
import { abortReason, type UpstreamReply } from './upstream-reply.ts';

const truncated = 'Upstream connection error: the reply was terminated early.';

/** Resolves when the client has taken what was written. Rejects with GatewayError when it does not in time, or has left. */
function waitForClient({ response, signal, stalledReaderMs, client }: Delivery): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(abortReason(signal));
  const timer = setTimeout(() => reject(new GatewayError('request_timeout', 'the client does not read its reply')), stalledReaderMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  response.once('drain', resolve);
  // Of a client that has left the reply may be read on, for what its upstream says of its usage.
  client.onLeft(resolve);
  return promise.finally(() => {
    clearTimeout(timer);
    client.onLeft(undefined);
    signal.removeEventListener('abort', onAbort);
  });
}

async function write(delivery: Delivery, bytes: Buffer): Promise<void> {
  if (delivery.signal.aborted) throw abortReason(delivery.signal);
  if (delivery.response.destroyed) return;
  if (!delivery.response.write(bytes)) await waitForClient(delivery);
}

/** How a delivery ended that broke: its client's fault, or the upstream's. */
function describeBreak(error: unknown, part: Pick<Delivered, 'report' | 'textCharacters' | 'conclude'>): Delivered {
  if (!(error instanceof GatewayError)) throw error;
  return { ...part, end: error.code === 'request_timeout' ? 'client-left' : 'cut', error };
}

/** Whether it begins as JSON or a page does, under whatever type: an error that would be saved as a broken file. No format begins so but bare samples, which may be anything. */
function isWritten(piece: Buffer): boolean {
  return /^\s*(?:\{\s*["}]|<[!?a-z])/i.test(piece.toString('latin1', 0, 64));
}

/**
 * Hands sound on as it comes, no faster than the client takes it. Where it breaks off the client's connection breaks too: a file that ends early looks whole otherwise.
 * @param contentType for replies that do not say themselves what sound they are
 */
export async function deliverSound(reply: UpstreamReply, delivery: Delivery, contentType: string): Promise<Delivered> {
  const { response } = delivery;
  let piece = await reply.next();
  if (piece === undefined)
    throw new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply holds no sound.");
  const said = String(delivery.received['content-type'] ?? '');
  if (/json|html|text\//i.test(said) || (contentType !== speechContentTypes.pcm && isWritten(piece)))
    throw new GatewayError(
      'upstream_invalid_reply',
      'Upstream connection error: the model service answered with something else than sound.',
      { internal: `it answered with ${said.slice(0, 100)}` },
    );
  delivery.onDelivering();
  response.writeHead(200, { ...delivery.headers, 'content-type': /^audio\/[\w.+-]+/i.test(said) ? said : contentType });
  try {
    for (; piece !== undefined; piece = await reply.next()) await write(delivery, piece);
  } catch (error) {
    return describeBreak(error, { report: undefined, textCharacters: 0, conclude: () => void response.destroy() });
  }
  return { end: 'finished', report: undefined, textCharacters: 0, conclude: () => void response.end() };
}

/** What has been seen of a stream of events. */
type Seen = {
  report: UsageReport | undefined;
  textCharacters: number;
  state: 'open' | 'done' | 'failed';
  /** Whether any event was one of the vendor's. Servers that have others have no end of theirs either. */
  isKnown: boolean;
  error: GatewayError | undefined;
};

function look(seen: Seen, event: AudioStreamEvent, reply: UpstreamReply): void {
  if (event.kind === 'other') return;
  if (event.kind === 'error') {
    seen.state = 'failed';
    seen.error = reply.describeError(event.error);
    return;
  }
  seen.isKnown = true;
  if (event.kind === 'delta') seen.textCharacters += event.textCharacters;
  else {
    seen.state = 'done';
    seen.report = event.usage;
  }
}

/** Frames as the reply brings them. Throws GatewayError for one that is too large. */
async function* readFrames(reply: UpstreamReply, eventBytesMax: number): AsyncGenerator<Frame> {
  const reader = createSseFrameReader({ frameBytesMax: eventBytesMax });
  try {
    for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) yield* reader.push(piece);
  } catch (error) {
    if (!(error instanceof FrameTooLargeError)) throw error;
    throw new GatewayError('upstream_reply_too_large', "an event of the model service's reply is too large");
  }
  if (reader.rest().length > 0) throw new GatewayError('upstream_connection_error', truncated);
}

/**
 * Hands a stream of events on as it comes, byte for byte, in whole events: so one that breaks can end with the error event that SDKs throw on. Nothing is
 * delivered before the first event that says something.
 */
export async function deliverEvents(reply: UpstreamReply, delivery: Delivery): Promise<Delivered> {
  const { response } = delivery;
  const seen: Seen = { report: undefined, textCharacters: 0, state: 'open', isKnown: false, error: undefined };
  let early: Buffer[] | undefined = [];
  const part = (conclude: () => void) => ({ report: seen.report, textCharacters: seen.textCharacters, conclude });
  try {
    for await (const frame of readFrames(reply, delivery.limits.eventBytesMax)) {
      const event = readAudioStreamEvent(frame.data);
      look(seen, event, reply);
      if (early === undefined) {
        await write(delivery, frame.bytes);
        if (event.kind === 'delta') delivery.client.delivered(event.textCharacters);
        continue;
      }
      if (event.kind === 'error') throw seen.error ?? new GatewayError('upstream_error', truncated);
      early.push(frame.bytes);
      if (event.kind === 'other' && frame.data === '') continue;
      const bytes = Buffer.concat(early);
      early = undefined;
      beginEvents(delivery);
      await write(delivery, bytes);
      if (event.kind === 'delta') delivery.client.delivered(event.textCharacters);
    }
  } catch (error) {
    if (early !== undefined) throw error;
    return describeBreak(
      error,
      part(() => breakEvents(response, error)),
    );
  }
  if (early !== undefined) throw new GatewayError('upstream_connection_error', truncated);
  if (seen.state === 'failed') return { ...part(() => void response.end()), end: 'cut', ...(seen.error && { error: seen.error }) };
  if (seen.state === 'done' || !seen.isKnown) return { ...part(() => void response.end()), end: 'finished' };
  const error = new GatewayError('upstream_connection_error', truncated);
  return { ...part(() => breakEvents(response, error)), end: 'cut', error };
}

function beginEvents(delivery: Delivery): void {
  delivery.onDelivering();
  const headers = { 'cache-control': 'no-cache', ...delivery.headers, 'content-type': 'text/event-stream; charset=utf-8' };
  delivery.response.writeHead(200, headers);
}

function breakEvents(response: ClientReply, error: unknown): void {
  if (response.destroyed) return;
  if (error instanceof GatewayError && error.code !== 'request_timeout') response.end(encodeAudioStreamError(error));
  else response.destroy();
}
