import type { ErrorInReply } from '../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { DeliveredCount } from '../../disconnect/delivered-count.ts';
import type { StreamRelay } from '../reply-relay.ts';
import { createReplyBound, refuseDeepEvent } from './reply-bound.ts';
import { createEventLine, failureOf } from './translate-events.ts';
import type { Translation } from './translation.ts';

const nothing = Buffer.alloc(0);

const outputLimit = { type: 'finished', stopReason: 'output-limit' } as const;

/** What the client learns of before any content comes is held until it does, so that an early failure can still be an HTTP status. */
function opensReply(event: InferenceEvent): boolean {
  return event.type !== 'started' && event.type !== 'usage';
}

/** What keeps a finished reply from being whole: the vendor gave it up, or words of it came in an event that nobody could read. */
function findFailure(
  { stopReason, stopDetail }: Extract<InferenceEvent, { type: 'finished' }>,
  saysFailure: boolean,
  malformedFrames: number,
): ErrorInReply | undefined {
  if (stopReason === 'failed' && !saysFailure) return failureOf(stopDetail);
  if (malformedFrames === 0) return undefined;
  return { message: `upstream connection error: ${malformedFrames} events of the stream could not be read`, status: 502 };
}

/** The events by which a reply begins of which there is no content yet. Some upstreams say nothing before that. */
function beginEarly(held: readonly InferenceEvent[] | undefined): readonly InferenceEvent[] {
  if (held === undefined) return [];
  return held.some(({ type }) => type === 'started') ? held : [{ type: 'started' }, ...held];
}

/**
 * Translates a stream event by event as it comes. Nothing is collected but what the client's dialect needs whole.
 * @param replyBytesMax how much of it may pile up; `read` throws GatewayError beyond that
 */
export function createTranslatedStream(translation: Translation, framing: StreamFraming, replyBytesMax: number): StreamRelay {
  const { upstream, client, reading, writing } = translation;
  const tap = upstream.createStreamTap({ framing: 'sse', request: {} });
  const decoder = upstream.codec.createEventDecoder(reading, 'sse');
  const encoder = client.codec.createEventEncoder(writing, framing);
  const line = createEventLine(translation);
  const hasEndMark = upstream.hasEndMark('sse');
  const bound = createReplyBound(replyBytesMax);
  const delivered = new DeliveredCount();
  let held: InferenceEvent[] | undefined = [];
  let decoderEnded = false;
  let failure: ErrorInReply | undefined;
  let wasOpenedEarly = false;

  const write = (events: readonly InferenceEvent[]): Buffer => {
    let text = '';
    for (const event of events) {
      if (wasOpenedEarly && event.type === 'started') continue;
      if (event.type === 'finished') failure = findFailure(event, client.codec.saysFailure, tap.report().malformedFrames);
      if (failure !== undefined) break;
      if (held === undefined) text += delivered.encode(encoder, event);
      else {
        held.push(event);
        if (!opensReply(event)) continue;
        for (const earlier of held) text += delivered.encode(encoder, earlier);
        held = undefined;
      }
    }
    return text === '' ? nothing : Buffer.from(text);
  };

  /** The end of a stream that its vendor calls whole. A server that never said why it stopped has stopped all the same. */
  const finish = (): Buffer => {
    if (decoderEnded) return nothing;
    decoderEnded = true;
    const events = write(line.push(decoder.end()));
    if (line.isFinished()) return events;
    return Buffer.concat([events, write(line.push([{ type: 'finished', stopReason: 'end' }]))]);
  };

  return {
    read: (frame) => {
      tap.read(frame);
      if (tap.state() === 'failed') return undefined;
      refuseDeepEvent(frame);
      const events = decoder.read(frame);
      bound(frame, events);
      const bytes = write(line.push(events));
      const last = tap.state() === 'complete' && hasEndMark ? finish() : nothing;
      return bytes.length + last.length === 0 ? undefined : last.length === 0 ? bytes : Buffer.concat([bytes, last]);
    },
    open: () => {
      const begins = beginEarly(held);
      held = undefined;
      const opening = [write(begins), Buffer.from(encoder.open?.() ?? '')];
      wasOpenedEarly = true;
      return opening.filter(({ length }) => length > 0);
    },
    end: () => (line.isFinished() ? nothing : finish()),
    cut: (usage) => {
      decoderEnded = true;
      return write([...line.closeOpen(), { type: 'usage', usageReport: { usage, raw: undefined, trustworthy: true } }, outputLimit]);
    },
    state: () => (failure === undefined ? tap.state() : 'failed'),
    hasContent: tap.hasContent,
    report: () => (failure === undefined ? tap.report() : { ...tap.report(), state: 'failed', error: failure }),
    deliveredCharacters: () => delivered.characters,
    endedEarly: () => failure === undefined && line.isFinished() && tap.state() === 'open',
    hasEndMark,
    passesErrors: () => false,
    position: encoder.position,
    wholeReply: () => encoder.kept?.(),
  };
}
