import { GatewayError } from '../../../inference/gateway-error.ts';
import { type Frame, type FrameReader, FrameTooLargeError, type StreamFraming } from '../../../platform/frames.ts';
import type { BudgetVerdict } from '../books/stream-budget.ts';
import { type HeldBack, StreamReview } from '../books/stream-review.ts';
import { writeError, writeFailure } from '../../replies/write-reply.ts';
import type { ExchangeContext, ReplySink, UpstreamFlow } from './exchange-context.ts';
import { HeldOpening } from './held-opening.ts';
import type { StreamRelay } from './reply-relay.ts';
import {
  chargedIfCut,
  createFrameReader,
  countDelivered,
  cutByBudget,
  describeDefect,
  describeEnding,
  isBlank,
  openStream,
  progressIntervalMs,
  type StreamEnding,
  warnOfMalformed,
} from './stream-parts.ts';
import { describeErrorInReply, streamCut, upstreamTimeout } from './upstream-failure.ts';

/**
 * Passes a stream on, frame by frame and byte for byte, while the tap reads its usage. Only whole frames are written, so that the dialect's error event can always follow. The
 * call is settled before its terminal frame is handed on. Opening frames wait for the first content, for a while: until then another attempt can answer instead.
 */
export class StreamReply implements ReplySink {
  readonly #context: ExchangeContext;
  readonly #flow: UpstreamFlow;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #framing: StreamFraming;
  readonly #reader: FrameReader;
  readonly #stream: StreamRelay;
  readonly #review: StreamReview | undefined;
  #settled = false;
  #contentSeen = false;
  /** Whether anything but the opening was or is about to be handed to the client: a translated reply may hold back what its upstream has said. */
  #reachesClient = false;
  #lastDataMs: number;
  #lastWriteMs: number;
  #lastProgressMs = 0;
  #pausedSinceMs: number | undefined;
  readonly #held: HeldOpening;
  /** Set while the end of the reply waits for what must be done before. */
  #keeping: Promise<void> | undefined;
  #wasKept = false;
  /** It is read on although its client has left. */
  #drains = false;

  constructor(context: ExchangeContext, flow: UpstreamFlow, headers: Readonly<Record<string, string>>, framing: StreamFraming) {
    this.#context = context;
    this.#flow = flow;
    this.#headers = headers;
    this.#framing = framing;
    this.#reader = createFrameReader(context.relay.upstreamFraming ?? framing, context.limits.eventBytesMax);
    this.#stream = openStream(context);
    if (context.budget !== undefined) this.#review = new StreamReview(context.budget, (verdict, heldBack) => this.#goOn(verdict, heldBack));
    this.#lastDataMs = context.clock.monotonicMs();
    this.#lastWriteMs = this.#lastDataMs;
    this.#held = new HeldOpening(this.#lastDataMs + (context.holdOpeningMs ?? Infinity));
  }

  data(chunk: Buffer): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (this.#contentSeen) this.#context.chunkGaps?.observe((nowMs - this.#lastDataMs) / 1000);
    this.#lastDataMs = nowMs;
    let frames: readonly Frame[];
    try {
      frames = this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameTooLargeError)) throw error;
      this.#flow.stop();
      return this.fail(
        new GatewayError('upstream_reply_too_large', `Upstream connection error: ${error.message}; the stream was terminated.`),
      );
    }
    if (this.#review?.isWaiting === true) this.#review.hold(frames);
    else this.#pass(frames);
  }

  #pass(frames: readonly Frame[]): void {
    if (this.#drains) return this.#readOn(frames);
    const parts: Buffer[] = [];
    for (const [at, frame] of frames.entries()) {
      const bytes = this.#stream.read(frame);
      if (bytes !== undefined) parts.push(bytes);
      const verdict = this.#review?.isDue(frame) === true ? this.#lookAt(frames, at + 1) : 'go';
      if (verdict === 'cut') return this.#cutShort(parts);
      if (verdict === 'wait') break;
    }
    if (this.#stream.state() === 'failed' && this.#offerFailed(parts)) return;
    const ready = this.#letPass(parts);
    if (this.#mustWordError()) return this.#answerError(ready);
    if (this.#stream.endedEarly()) return this.#endEarly(ready);
    this.#follow();
    this.#afterKeeping(this.#hasEnded(), () => this.#writeAll(ready));
  }

  /** Looks whether what is held for the stream covers it. Where the store has to be asked, the upstream waits meanwhile. */
  #lookAt(frames: readonly Frame[], next: number): BudgetVerdict | 'wait' {
    if (this.#settled || this.#stream.state() !== 'open' || this.#stream.endedEarly()) return 'go';
    const verdict = this.#review?.look(this.#stream.report(), frames.slice(next)) ?? 'go';
    if (verdict === 'wait') this.#flow.pause();
    return verdict;
  }

  /** The answer that a stream had to wait for. A defect ends this call and no other. */
  #goOn(verdict: BudgetVerdict, { frames, ending }: HeldBack): void {
    if (this.#settled) return;
    this.#lastDataMs = this.#context.clock.monotonicMs();
    try {
      if (verdict === 'cut') return this.#cutShort([]);
      if (this.#pausedSinceMs === undefined) this.#flow.resume();
      this.#pass(frames);
    } catch (cause) {
      this.#flow.stop();
      return this.fail(describeDefect(this.#context, cause));
    }
    if (ending !== undefined) this.#whenCovered(ending);
  }

  /** Does a step that ends the reply, as soon as all that came before it may pass. */
  readonly #whenCovered = (step: () => void): void => (this.#review?.isWaiting === true ? this.#review.endWith(step) : step());

  /** Ends the reply as if its model had reached the bound of its output. */
  #cutShort(parts: readonly Buffer[]): void {
    this.#flow.stop();
    const ready = [...this.#release(), ...parts, this.#stream.cut(chargedIfCut(this.#context, this.#stream.report()))];
    this.#reachesClient = true;
    this.#markContent();
    this.#settle(cutByBudget);
    this.#afterKeeping(true, () => {
      this.#writeAll(ready);
      this.#context.response.end();
    });
  }

  /** What comes after the client has left: nothing is written, and only what it says of the usage counts. */
  #readOn(frames: readonly Frame[]): void {
    for (const frame of frames) this.#stream.read(frame);
    const state = this.#stream.state();
    if (state === 'failed' || this.#stream.endedEarly()) return this.clientLeft();
    if (this.#hasEnded()) this.#settle({ end: 'client-left', complete: true });
    else this.#tellProgress();
  }

  #tellProgress(): void {
    if (this.#settled || this.#lastDataMs - this.#lastProgressMs < progressIntervalMs) return;
    this.#lastProgressMs = this.#lastDataMs;
    this.#context.observer.progress(this.#stream.report());
  }

  #hasEnded(): boolean {
    return this.#stream.state() === 'complete' && this.#stream.hasEndMark;
  }

  /** Does a step at once, or, where it ends the reply or another step waits already, when what has to be done before is done. */
  #afterKeeping(ends: boolean, step: () => void): void {
    if (ends && !this.#wasKept && this.#stream.kept !== undefined) {
      this.#wasKept = true;
      this.#keeping = this.#stream.kept();
    }
    if (this.#keeping === undefined) return step();
    const waits = this.#keeping.then(step).finally(() => {
      if (this.#keeping === waits) this.#keeping = undefined;
    });
    this.#keeping = waits;
  }

  /** What may go to the client now. */
  #letPass(parts: readonly Buffer[]): readonly Buffer[] {
    if (!this.#held.isHeld) return this.#reach(parts);
    const hasRoom = this.#held.add(parts);
    const waits = !this.#stream.hasContent() && this.#stream.state() === 'open' && !this.#stream.endedEarly();
    return waits && hasRoom ? [] : this.#release();
  }

  #release(): readonly Buffer[] {
    return this.#reach(this.#held.release());
  }

  #reach(parts: readonly Buffer[]): readonly Buffer[] {
    if (parts.length > 0) this.#reachesClient = true;
    return parts;
  }

  /** Lets the client have the head and what opens the reply, and gives up that another attempt could answer instead. Nothing of the content is in it. */
  #openReply(): void {
    const { response, onOpened } = this.#context;
    const opening = [...this.#held.release(), ...(this.#stream.open?.() ?? [])];
    onOpened?.();
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, this.#headers);
    if (opening.length > 0) this.#writeAll(opening);
    else response.flushHeaders?.();
  }

  /** Offers the call to another attempt when the upstream reported an error and the client has seen nothing yet. */
  #offerFailed(parts: readonly Buffer[]): boolean {
    if (!this.#held.isHeld || this.#settled) return false;
    const { response, voice, requestId } = this.#context;
    const own = this.#describeError();
    const answer = (instead?: GatewayError): void => {
      if (instead !== undefined || !this.#stream.passesErrors(response.headersSent)) {
        this.#settle({ end: 'failed', complete: false, error: instead ?? own });
        return writeFailure(response, voice, instead ?? own, requestId, this.#framing);
      }
      const all = [...this.#release(), ...parts];
      this.#settle({ end: this.#brokenEnd(), complete: false, error: own });
      this.#writeAll(all);
      response.end();
    };
    if (!this.#context.handOver({ error: own, answer })) return false;
    this.#flow.stop();
    return true;
  }

  #writeAll(parts: readonly Buffer[]): void {
    const [only] = parts;
    if (only !== undefined) this.#write(parts.length === 1 ? only : Buffer.concat(parts));
  }

  /** Whether the upstream's error has to be told in the gateway's words: its own event does not reach the client, or a status still can. */
  #mustWordError(): boolean {
    if (this.#settled || this.#stream.state() !== 'failed') return false;
    return !this.#stream.passesErrors(this.#context.response.headersSent);
  }

  #answerError(parts: readonly Buffer[]): void {
    this.#flow.stop();
    if (this.#stream.report().outputCharacters > 0) this.#writeAll(parts);
    this.fail(this.#describeError());
  }

  #describeError(): GatewayError {
    return describeErrorInReply(this.#stream.report().error, this.#context.target);
  }

  /** The client's reply ended at one of its stop sequences: what the upstream would still say is not wanted. */
  #endEarly(parts: readonly Buffer[]): void {
    this.#flow.stop();
    this.#markContent();
    this.#settle({ end: 'finished', complete: this.#stream.state() === 'complete' });
    this.#afterKeeping(true, () => {
      this.#writeAll(parts);
      this.#context.response.end();
    });
  }

  #markContent(): void {
    if (this.#contentSeen) return;
    this.#contentSeen = true;
    this.#context.observer.firstContent();
  }

  /** Tells the observer what the tap has learnt, before the bytes it was learnt from go on. */
  #follow(): void {
    if (this.#settled) return;
    const state = this.#stream.state();
    if (state === 'open' && this.#contentSeen && this.#lastDataMs - this.#lastProgressMs < progressIntervalMs) return;
    const report = this.#stream.report();
    if (report.outputCharacters > 0 && this.#reachesClient) this.#markContent();
    if (this.#hasEnded()) this.#settle({ end: 'finished', complete: true });
    else if (state === 'complete') {
      // Without an end mark more usage may come with the last bytes; until then the journal has what is known.
      this.#context.observer.progress(report);
    } else if (state === 'failed') this.#settle({ end: this.#brokenEnd(), complete: false, error: this.#describeError() });
    else this.#tellProgress();
  }

  /** A stream that broke after content is charged for what was delivered; one that broke before costs nothing. */
  #brokenEnd(): 'cut' | 'failed' {
    return this.#reachesClient && this.#stream.report().outputCharacters > 0 ? 'cut' : 'failed';
  }

  #settle(ending: StreamEnding): void {
    if (this.#settled) return;
    this.#settled = true;
    const report = this.#stream.report();
    if (report.malformedFrames > 0) warnOfMalformed(this.#context, report);
    const { error } = ending;
    if (error !== undefined && (this.#reachesClient || this.#context.response.headersSent)) this.#stream.broke?.(error);
    this.#context.observer.settled(describeEnding(ending, report));
  }

  #write(bytes: Buffer): void {
    const { response } = this.#context;
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, this.#headers);
    this.#lastWriteMs = this.#lastDataMs;
    if (response.write(bytes) || this.#pausedSinceMs !== undefined) return;
    this.#pausedSinceMs = this.#context.clock.monotonicMs();
    this.#flow.pause();
    response.once('drain', () => {
      this.#pausedSinceMs = undefined;
      this.#lastDataMs = this.#context.clock.monotonicMs();
      this.#flow.resume();
    });
  }

  end(): void {
    this.#whenCovered(() => this.#endWell());
  }

  #endWell(): void {
    if (this.#drains) return this.#settle({ end: 'client-left', complete: this.#stream.state() === 'complete' });
    if (this.#stream.state() === 'open') this.#closeLastFrame();
    const rest = this.#reader.rest();
    const cut = this.#stream.state() === 'open' || !isBlank(rest);
    if (cut && !this.#settled) return this.fail(streamCut(this.#context.target));
    const last = this.#stream.end(isBlank(rest) ? rest : Buffer.alloc(0));
    if (this.#mustWordError()) return this.#answerError([last]);
    this.#settle({ end: 'finished', complete: true });
    const { response } = this.#context;
    const ready = this.#letPass(last.length > 0 ? [last] : []);
    this.#afterKeeping(true, () => {
      this.#writeAll(ready);
      if (!response.headersSent && !response.destroyed) response.writeHead(200, this.#headers);
      response.end();
    });
  }

  /** Some servers end their last event without the blank line that closes it. It counts if it is the dialect's own end, and only then. */
  #closeLastFrame(): void {
    if ((this.#context.relay.upstreamFraming ?? this.#framing) !== 'sse' || isBlank(this.#reader.rest())) return;
    const frames = this.#reader.push(Buffer.from('\n\n'));
    const passed = frames.flatMap((frame) => this.#stream.read(frame) ?? []);
    if (this.#stream.state() !== 'complete') return;
    const ready = this.#letPass(passed);
    this.#follow();
    this.#afterKeeping(this.#hasEnded(), () => this.#writeAll(ready));
  }

  fail(own: GatewayError): void {
    this.#whenCovered(() => this.#failWith(own));
  }

  #failWith(own: GatewayError): void {
    if (this.#drains) return this.clientLeft();
    if (!this.#held.isHeld || this.#settled || this.#stream.state() === 'complete') return this.#endBroken(own);
    const { response, voice, requestId, handOver } = this.#context;
    const answer = (error = own): void => {
      this.#settle({ end: 'failed', complete: false, error });
      writeFailure(response, voice, error, requestId, this.#framing);
    };
    if (!handOver({ error: own, answer })) answer();
  }

  #endBroken(error: GatewayError): void {
    const { response, voice, requestId } = this.#context;
    const ended = this.#settled || this.#stream.state() === 'complete';
    if (ended) this.#settle({ end: 'finished', complete: true });
    else this.#settle({ end: this.#brokenEnd(), complete: false, error });
    // The whole reply is there and waits to be kept: what broke after it is nothing to its client.
    if (ended && this.#keeping !== undefined) return this.#afterKeeping(false, () => response.end());
    if (!response.headersSent) return writeError(response, voice, error, requestId, this.#framing);
    // After the dialect's own end nothing may follow: the client has its whole answer, or the vendor's error event.
    if (!ended && !response.destroyed) {
      response.write(voice.encodeStreamError(error, { ...this.#stream.position(), framing: this.#framing, requestId }));
    }
    response.end();
  }

  clientLeft(drains = false): void {
    const complete = this.#stream.state() === 'complete';
    if (complete || this.#settled) {
      this.#flow.stop();
      return this.#settle({ end: 'finished', complete });
    }
    const { observer, leaving } = this.#context;
    const { policy = 'abort' } = leaving ?? {};
    const deliveredCharacters = this.#reachesClient ? countDelivered(leaving, this.#stream) : 0;
    observer.left?.({ policy, deliveredCharacters });
    if ((this.#drains = drains)) return this.#flow.resume();
    this.#flow.stop();
    this.#settle({ end: 'client-left', complete, ...(policy === 'deliver' ? { charged: deliveredCharacters } : {}) });
  }

  check(nowMs: number): void {
    const { timeouts, target, response } = this.#context;
    if (this.#drains || this.#review?.isWaiting === true) return;
    if (this.#held.isDue(nowMs)) this.#openReply();
    if (this.#pausedSinceMs !== undefined) {
      if (nowMs - this.#pausedSinceMs < timeouts.stalledReaderMs) return;
      this.clientLeft();
      response.destroy();
      return;
    }
    if (nowMs - this.#lastDataMs >= timeouts.idleMs) {
      this.#flow.stop();
      return this.fail(upstreamTimeout(target, 'event of the stream', timeouts.idleMs));
    }
    // A finished stream without an end mark waits for its last usage: a heartbeat would be the last event that the client sees.
    if (nowMs - this.#lastWriteMs < timeouts.heartbeatMs || this.#stream.state() !== 'open' || response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, this.#headers);
    this.#lastWriteMs = nowMs;
    response.write(this.#context.voice.heartbeat(this.#framing));
  }
}
