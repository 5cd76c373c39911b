import type { ErrorInReply } from '../../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { ChargedUsage, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import type { PieceWriter, ReplyForm } from '../reply-form.ts';
import { createReplyBound, refuseDeepEvent } from './reply-bound.ts';
import { createEventLine, failureOf } from './translate-events.ts';
import type { Translation } from './prepare-translation.ts';

const nothing: readonly never[] = [];

const outputLimit = { type: 'finished', stopReason: 'output-limit' } as const;

/** Events before any content are held until content comes, so that an early failure can still be an HTTP status. */
function opensReply(event: InferenceEvent): boolean {
  return event.type !== 'started' && event.type !== 'usage' && event.type !== 'logprobs';
}

/**
 * Why a finished reply is incomplete: the vendor failed to generate it, or the text of an unreadable event is missing.
 */
function findFailure(
  { stopReason, stopDetail }: Extract<InferenceEvent, { type: 'finished' }>,
  saysFailure: boolean,
  malformedFrames: number,
): ErrorInReply | undefined {
  if (stopReason === 'failed' && !saysFailure) return failureOf(stopDetail);
  if (malformedFrames === 0) return undefined;
  return { message: `upstream connection error: ${malformedFrames} events of the stream could not be read`, status: 502 };
}

/** The events that begin a reply without content. Some upstreams send nothing before the content. */
function beginEarly(held: readonly InferenceEvent[] | undefined): readonly InferenceEvent[] {
  if (held === undefined) return [];
  return held.some(({ type }) => type === 'started') ? held : [{ type: 'started' }, ...held];
}

type FindFailure = (finished: Extract<InferenceEvent, { type: 'finished' }>) => ErrorInReply | undefined;

/** Writes events for the client. Events that only open the reply wait for content, or until `open` is called. */
class EventWriter<Piece> {
  readonly #writer: PieceWriter<Piece>;
  readonly #findFailure: FindFailure;
  #held: InferenceEvent[] | undefined = [];
  #wasOpenedEarly = false;
  /** Set if the reply turns out at its end to have failed. */
  failure: ErrorInReply | undefined;

  constructor(writer: PieceWriter<Piece>, findFailure: FindFailure) {
    this.#writer = writer;
    this.#findFailure = findFailure;
  }

  write(events: readonly InferenceEvent[]): readonly Piece[] {
    if (this.#held === undefined && this.failure === undefined && events.length === 1 && events[0]?.type === 'delta')
      return this.#writer.write(events);
    const ready: InferenceEvent[] = [];
    for (const event of events) {
      if (this.#wasOpenedEarly && event.type === 'started') continue;
      if (event.type === 'finished') this.failure = this.#findFailure(event);
      if (this.failure !== undefined) break;
      ready.push(...this.#release(event));
    }
    return ready.length === 0 ? nothing : this.#writer.write(ready);
  }

  /** The events that may be written now. */
  #release(event: InferenceEvent): readonly InferenceEvent[] {
    if (this.#held === undefined) return [event];
    this.#held.push(event);
    if (!opensReply(event)) return nothing;
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  /** Opens the reply before there is any content. */
  open(): readonly Piece[] {
    const begins = beginEarly(this.#held);
    this.#held = undefined;
    const opening = [...this.write(begins), ...this.#writer.open()];
    this.#wasOpenedEarly = true;
    return opening;
  }
}

/**
 * Translates a stream, event by event. It collects only what the client's dialect needs as a whole.
 * @param replyBytesMax the most that may be collected; beyond it `read` throws GatewayError
 * @param charged the usage that is charged, which the client receives at the end
 */
export function createTranslatedStream<Piece>(
  translation: Translation,
  form: ReplyForm<Piece>,
  { replyBytesMax, charged }: { readonly replyBytesMax: number; readonly charged?: ChargedUsage | undefined },
): StreamRelay<Piece> {
  const { upstream, client, reading, writing } = translation;
  const tap = upstream.createStreamTap({ framing: 'sse', request: {} });
  const decoder = upstream.codec.createEventDecoder(reading, 'sse');
  const pieces = form.createWriter(writing);
  const soFar = charged === undefined ? undefined : () => charged(tap.report(), tap.state() === 'complete');
  const line = createEventLine(translation, soFar);
  const hasEndMark = upstream.hasEndMark('sse');
  const bound = createReplyBound(replyBytesMax);
  const writer = new EventWriter(pieces, (end) => findFailure(end, client.codec.saysFailure, tap.report().malformedFrames));
  const endedEarly = (): boolean => writer.failure === undefined && line.isFinished() && tap.state() === 'open';
  let decoderEnded = false;

  /** Ends a stream that its vendor calls complete. A server may end without a reason to stop. */
  const finish = (): readonly Piece[] => {
    if (decoderEnded) return nothing;
    decoderEnded = true;
    const events = writer.write(line.push(decoder.end()));
    if (line.isFinished()) return events;
    return [...events, ...writer.write(line.push([{ type: 'finished', stopReason: 'end' }]))];
  };

  return {
    read: (frame) => {
      // Events after the client's end are neither sent nor charged.
      if (endedEarly()) return nothing;
      tap.read(frame);
      if (tap.state() === 'failed') return nothing;
      refuseDeepEvent(frame);
      const events = decoder.read(frame);
      bound(frame, events);
      const written = writer.write(line.push(events));
      return tap.state() === 'complete' && hasEndMark ? [...written, ...finish()] : written;
    },
    isSlow: true,
    open: () => writer.open(),
    end: () => (line.isFinished() ? nothing : finish()),
    cut: (usage) => {
      decoderEnded = true;
      return writer.write([...line.closeOpen(), { type: 'usage', usageReport: { usage, raw: undefined, trustworthy: true } }, outputLimit]);
    },
    state: () => (writer.failure === undefined ? tap.state() : 'failed'),
    hasContent: tap.hasContent,
    report: () => (writer.failure === undefined ? tap.report() : { ...tap.report(), state: 'failed', error: writer.failure }),
    deliveredCharacters: pieces.deliveredCharacters,
    endedEarly,
    hasEndMark,
    passesErrors: () => false,
    position: pieces.position,
    wholeReply: () => pieces.kept?.(),
  };
}
