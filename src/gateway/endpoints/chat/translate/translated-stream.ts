import type { EventEncoder } from '../../../../dialects/chat-codec.ts';
import type { ErrorInReply } from '../../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import { DeliveredCount } from '../../../attempts/disconnect/delivered-count.ts';
import type { ChargedUsage, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import { createReplyBound, refuseDeepEvent } from './reply-bound.ts';
import { createEventLine, failureOf } from './translate-events.ts';
import type { Translation } from './translation.ts';

const nothing = Buffer.alloc(0);

const outputLimit = { type: 'finished', stopReason: 'output-limit' } as const;

/** What the client learns of before any content comes is held until it does, so that an early failure can still be an HTTP status. */
function opensReply(event: InferenceEvent): boolean {
  return event.type !== 'started' && event.type !== 'usage' && event.type !== 'logprobs';
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

type FindFailure = (finished: Extract<InferenceEvent, { type: 'finished' }>) => ErrorInReply | undefined;

/** Writes events for the client. Those that only open the reply wait for the first that says something, or until they are let go. */
class EventWriter {
  readonly #encoder: EventEncoder;
  readonly #findFailure: FindFailure;
  readonly #delivered = new DeliveredCount();
  #held: InferenceEvent[] | undefined = [];
  #wasOpenedEarly = false;
  /** Set when the reply turned out to be none, at its end. */
  failure: ErrorInReply | undefined;

  constructor(encoder: EventEncoder, findFailure: FindFailure) {
    this.#encoder = encoder;
    this.#findFailure = findFailure;
  }

  get deliveredCharacters(): number {
    return this.#delivered.characters;
  }

  write(events: readonly InferenceEvent[]): Buffer {
    let text = '';
    for (const event of events) {
      if (this.#wasOpenedEarly && event.type === 'started') continue;
      if (event.type === 'finished') this.failure = this.#findFailure(event);
      if (this.failure !== undefined) break;
      text += this.#encode(event);
    }
    return text === '' ? nothing : Buffer.from(text);
  }

  #encode(event: InferenceEvent): string {
    if (this.#held === undefined) return this.#delivered.encode(this.#encoder, event);
    this.#held.push(event);
    if (!opensReply(event)) return '';
    const held = this.#held;
    this.#held = undefined;
    return held.map((earlier) => this.#delivered.encode(this.#encoder, earlier)).join('');
  }

  /** What opens the reply, before there is any content. */
  open(): Buffer[] {
    const begins = beginEarly(this.#held);
    this.#held = undefined;
    const opening = [this.write(begins), Buffer.from(this.#encoder.open?.() ?? '')];
    this.#wasOpenedEarly = true;
    return opening.filter(({ length }) => length > 0);
  }
}

/**
 * Translates a stream event by event as it comes. Nothing is collected but what the client's dialect needs whole.
 * @param replyBytesMax how much of it may pile up; `read` throws GatewayError beyond that
 * @param charged what is charged for it, which its client is told at its end
 */
export function createTranslatedStream(
  translation: Translation,
  framing: StreamFraming,
  { replyBytesMax, charged }: { readonly replyBytesMax: number; readonly charged?: ChargedUsage | undefined },
): StreamRelay {
  const { upstream, client, reading, writing } = translation;
  const tap = upstream.createStreamTap({ framing: 'sse', request: {} });
  const decoder = upstream.codec.createEventDecoder(reading, 'sse');
  const encoder = client.codec.createEventEncoder(writing, framing);
  const soFar = charged === undefined ? undefined : () => charged(tap.report(), tap.state() === 'complete');
  const line = createEventLine(translation, soFar);
  const hasEndMark = upstream.hasEndMark('sse');
  const bound = createReplyBound(replyBytesMax);
  const writer = new EventWriter(encoder, (end) => findFailure(end, client.codec.saysFailure, tap.report().malformedFrames));
  const endedEarly = (): boolean => writer.failure === undefined && line.isFinished() && tap.state() === 'open';
  let decoderEnded = false;

  /** The end of a stream that its vendor calls whole. A server that never said why it stopped has stopped all the same. */
  const finish = (): Buffer => {
    if (decoderEnded) return nothing;
    decoderEnded = true;
    const events = writer.write(line.push(decoder.end()));
    if (line.isFinished()) return events;
    return Buffer.concat([events, writer.write(line.push([{ type: 'finished', stopReason: 'end' }]))]);
  };

  return {
    read: (frame) => {
      // What comes after the client's end is neither told nor charged.
      if (endedEarly()) return undefined;
      tap.read(frame);
      if (tap.state() === 'failed') return undefined;
      refuseDeepEvent(frame);
      const events = decoder.read(frame);
      bound(frame, events);
      const bytes = writer.write(line.push(events));
      const last = tap.state() === 'complete' && hasEndMark ? finish() : nothing;
      return bytes.length + last.length === 0 ? undefined : last.length === 0 ? bytes : Buffer.concat([bytes, last]);
    },
    open: () => writer.open(),
    end: () => (line.isFinished() ? nothing : finish()),
    cut: (usage) => {
      decoderEnded = true;
      return writer.write([...line.closeOpen(), { type: 'usage', usageReport: { usage, raw: undefined, trustworthy: true } }, outputLimit]);
    },
    state: () => (writer.failure === undefined ? tap.state() : 'failed'),
    hasContent: tap.hasContent,
    report: () => (writer.failure === undefined ? tap.report() : { ...tap.report(), state: 'failed', error: writer.failure }),
    deliveredCharacters: () => writer.deliveredCharacters,
    endedEarly,
    hasEndMark,
    passesErrors: () => false,
    position: encoder.position,
    wholeReply: () => encoder.kept?.(),
  };
}
