import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { Frame, FrameReader, StreamFraming } from '../../../platform/frames.ts';
import { largeBodyBytes, yieldIfLong } from '../../../platform/yield-queue.ts';
import type { BudgetVerdict } from '../books/stream-budget.ts';
import type { ExchangeContext, ReplyIntake, UpstreamFlow } from './exchange-context.ts';
import type { StreamRelay } from './reply-relay.ts';
import {
  chargedIfCut,
  countDelivered,
  cutByBudget,
  describeDefect,
  describeFrameError,
  isBlank,
  openReader,
  openStream,
  StreamBooks,
  type StreamEnding,
} from './stream-books.ts';
import { StreamDelivery } from './stream-delivery.ts';
import type { StreamState, WaitingStream } from './stream-state.ts';
import { describeErrorInReply, streamCut, upstreamTimeout } from './upstream-failure.ts';

/**
 * Passes a stream on, frame by frame, while its relay reads its usage. Only whole frames are passed on, so that an
 * error can always follow. The call is settled before its terminal frame is passed on. Opening frames wait a limited
 * time for the first content: until then another attempt can answer instead.
 */
export class StreamReply<Piece = Buffer> implements ReplyIntake {
  readonly #context: ExchangeContext<Piece>;
  readonly #flow: UpstreamFlow;
  readonly #framing: StreamFraming;
  readonly #reader: FrameReader;
  readonly #stream: StreamRelay<Piece>;
  readonly #delivery: StreamDelivery<Piece>;
  readonly #books: StreamBooks;
  #state: StreamState = { name: 'opening' };
  #lastDataMs: number;

  /** @param framing that of the upstream's answer */
  constructor(context: ExchangeContext<Piece>, flow: UpstreamFlow, headers: Readonly<Record<string, string>>, framing: StreamFraming) {
    this.#context = context;
    this.#flow = flow;
    this.#framing = framing;
    this.#reader = openReader(context, this.#framing);
    this.#stream = openStream(context);
    const onResumed = (): void => void (this.#lastDataMs = context.clock.monotonicMs());
    this.#delivery = new StreamDelivery(context, { headers, flow, stream: this.#stream, onResumed });
    this.#books = new StreamBooks(context, this.#stream);
    this.#lastDataMs = context.clock.monotonicMs();
  }

  data(chunk: Buffer): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#books.heard(nowMs - this.#lastDataMs);
    this.#lastDataMs = nowMs;
    const piece = this.#skim(chunk);
    if (piece !== undefined) return this.#passOn([piece]);
    let frames: readonly Frame[];
    try {
      frames = this.#reader.push(chunk);
    } catch (error) {
      this.#flow.stop();
      return this.fail(describeFrameError(error));
    }
    if (this.#state.name !== 'waiting') return this.#pass(frames);
    this.#state.frames.push(...frames);
  }

  /** The piece of a chunk that can pass without a look at its frames. */
  #skim(chunk: Buffer): Piece | undefined {
    if (this.#stream.skim === undefined || this.#state.name !== 'passing' || this.#reader.isBetweenFrames?.() !== true) return undefined;
    return chunk.length > this.#context.limits.eventBytesMax ? undefined : this.#stream.skim(chunk);
  }

  #passOn(pieces: readonly Piece[]): void {
    this.#follow();
    this.#delivery.pass(pieces, this.#lastDataMs, this.#hasEnded());
  }

  #pass(frames: readonly Frame[]): void {
    if (this.#state.name === 'draining' || this.#state.name === 'over') return this.#readOn(frames);
    const pieces: Piece[] = [];
    let read = 0;
    let verdict: BudgetVerdict | Promise<BudgetVerdict> = 'go';
    for (const frame of frames) {
      const turn = this.#stream.isSlow === true && frame.bytes.length > largeBodyBytes ? yieldIfLong() : undefined;
      if (turn !== undefined) {
        verdict = turn.then(() => 'go');
        break;
      }
      read += 1;
      for (const piece of this.#stream.read(frame)) pieces.push(piece);
      verdict = this.#lookAt(frame);
      if (verdict === 'cut') return this.#cutShort(pieces);
      if (verdict !== 'go' || this.#hasJustFailed) break;
    }
    if (this.#stream.state() === 'failed' && this.#offerFailed(pieces)) return;
    const ready = this.#letPass(pieces);
    if (this.#mustWordError()) return this.#answerError(ready);
    if (this.#stream.endedEarly()) return this.#endEarly(ready);
    this.#passOn(ready);
    if (verdict instanceof Promise) this.#waitFor(verdict, frames.slice(read));
    else if (read < frames.length) this.#pass(frames.slice(read));
  }

  /** The call is settled with what came before the error, however the upstream's bytes are cut into chunks. */
  get #hasJustFailed(): boolean {
    return !this.#isSettled && this.#stream.state() === 'failed';
  }

  /** Checks whether the hold covers the stream. */
  #lookAt(frame: Frame): BudgetVerdict | Promise<BudgetVerdict> {
    const { budget } = this.#context;
    if (budget?.isDue(frame) !== true) return 'go';
    if (this.#isSettled || this.#stream.state() !== 'open' || this.#stream.endedEarly()) return 'go';
    return budget.review(this.#stream.report());
  }

  /** From `opening`, `opened` or `passing` to `waiting`. The upstream is paused. */
  #waitFor(verdict: Promise<BudgetVerdict>, rest: readonly Frame[]): void {
    const { name: before } = this.#state;
    // The client may have disconnected during the last delivery.
    if (before !== 'opening' && before !== 'opened' && before !== 'passing' && before !== 'draining') return;
    const waiting: WaitingStream = { name: 'waiting', before, frames: [...rest], ending: undefined };
    this.#state = waiting;
    this.#flow.pause();
    void verdict.then((answer) => this.#goOn(answer, waiting));
  }

  /** From `waiting` to its state before, unless it has ended meanwhile. A bug ends only this call. */
  #goOn(verdict: BudgetVerdict, waiting: WaitingStream): void {
    if (this.#state !== waiting) return;
    const nowMs = this.#context.clock.monotonicMs();
    this.#lastDataMs = nowMs;
    this.#state = { name: waiting.before };
    try {
      if (verdict === 'cut') return this.#cutShort([]);
      if (this.#delivery.stalledMs(nowMs) === undefined) this.#flow.resume();
      this.#pass(waiting.frames);
    } catch (cause) {
      this.#flow.stop();
      return this.fail(describeDefect(this.#context, cause));
    }
    if (waiting.ending !== undefined) this.#whenCovered(waiting.ending);
  }

  /** Runs a step that ends the reply, after all earlier frames have passed. */
  #whenCovered(step: () => void): void {
    if (this.#state.name === 'waiting') this.#state.ending ??= step;
    else step();
  }

  /** Ends the reply as if its model had reached its output bound. */
  #cutShort(pieces: readonly Piece[]): void {
    this.#flow.stop();
    const opening = this.#state.name === 'opening' ? this.#delivery.release() : [];
    const ready = [...opening, ...pieces, ...this.#stream.cut(chargedIfCut(this.#context, this.#stream.report()))];
    this.#state = { name: 'passing' };
    this.#books.firstContent();
    this.#settle(cutByBudget);
    this.#delivery.end(ready);
  }

  /** Reads frames after the client has disconnected. Only their usage counts. */
  #readOn(frames: readonly Frame[]): void {
    for (const frame of frames) {
      this.#stream.read(frame);
      if (this.#hasJustFailed) break;
    }
    if (this.#isSettled) return;
    if (this.#stream.state() === 'failed' || this.#stream.endedEarly()) return this.clientLeft();
    if (this.#hasEnded()) this.#settle({ end: 'client-left', complete: true }, 'over');
    else this.#books.tellProgress(this.#lastDataMs);
  }

  #hasEnded(): boolean {
    return this.#stream.state() === 'complete' && this.#stream.hasEndMark;
  }

  get #isSettled(): boolean {
    return this.#state.name === 'settled' || this.#state.name === 'over';
  }

  /**
   * The pieces that may go to the client now. From `opening` to `passing` with the first content, or if no more can be
   * held.
   */
  #letPass(pieces: readonly Piece[]): readonly Piece[] {
    const { name } = this.#state;
    if (name === 'opening') {
      const hasRoom = this.#delivery.hold(pieces);
      const mayWait = !this.#stream.hasContent() && this.#stream.state() === 'open' && !this.#stream.endedEarly();
      return mayWait && hasRoom ? [] : this.#release();
    }
    if (name === 'opened' && pieces.length > 0) this.#state = { name: 'passing' };
    return pieces;
  }

  /** From `opening` to `passing`; to `opened` if nothing was held. */
  #release(): readonly Piece[] {
    const pieces = this.#delivery.release();
    this.#state = { name: pieces.length > 0 ? 'passing' : 'opened' };
    return pieces;
  }

  /** From `opening` to `opened`, without content. Another attempt can no longer answer instead. */
  #open(): void {
    const opening = [...this.#delivery.release(), ...(this.#stream.open?.() ?? [])];
    this.#state = { name: 'opened' };
    this.#context.onOpened?.();
    this.#delivery.open(opening);
  }

  /** From `opening` to `offered`, if the upstream reported an error and another attempt can follow. */
  #offerFailed(pieces: readonly Piece[]): boolean {
    if (this.#state.name !== 'opening') return false;
    const { sink, handOver } = this.#context;
    const own = this.#describeError();
    const answer = (instead?: GatewayError): void => {
      if (instead !== undefined || !this.#stream.passesErrors(sink.hasBegun)) {
        this.#settle({ end: 'failed', complete: false, error: instead ?? own });
        return sink.fail(instead ?? own);
      }
      const all = [...this.#delivery.release(), ...pieces];
      if (all.length > 0) this.#state = { name: 'passing' };
      this.#settle({ end: this.#brokenEnd(), complete: false, error: own });
      this.#delivery.pass(all, this.#lastDataMs, false);
      sink.end();
    };
    if (!handOver({ error: own, answer })) return false;
    if (!this.#isSettled) this.#state = { name: 'offered' };
    this.#flow.stop();
    return true;
  }

  /**
   * Whether the gateway must word the upstream's error: the error event does not reach the client, or a status can
   * still be sent.
   */
  #mustWordError(): boolean {
    if (this.#isSettled || this.#stream.state() !== 'failed') return false;
    return !this.#stream.passesErrors(this.#context.sink.hasBegun);
  }

  #answerError(pieces: readonly Piece[]): void {
    this.#flow.stop();
    if (this.#stream.report().outputCharacters > 0) this.#delivery.pass(pieces, this.#lastDataMs, false);
    this.fail(this.#describeError());
  }

  #describeError(): GatewayError {
    return describeErrorInReply(this.#stream.report().error, this.#context.target);
  }

  /** The client's reply ended at one of its stop sequences. The rest of the upstream's reply is not needed. */
  #endEarly(pieces: readonly Piece[]): void {
    this.#flow.stop();
    this.#books.firstContent();
    this.#settle({ end: 'finished', complete: this.#stream.state() === 'complete' });
    this.#delivery.end(pieces);
  }

  /** Updates the books before the pieces that were read are passed on. */
  #follow(): void {
    const { name } = this.#state;
    if (name === 'settled' || name === 'over') return;
    const state = this.#stream.state();
    if (state === 'open' && !this.#books.isDue(this.#lastDataMs)) return;
    const report = this.#stream.report();
    if (report.outputCharacters > 0 && name === 'passing') this.#books.firstContent();
    if (this.#hasEnded()) this.#settle({ end: 'finished', complete: true });
    // Without an end mark the last bytes may contain more usage. Until then the journal has the present usage.
    else if (state === 'complete') this.#context.observer.progress(report);
    else if (state === 'failed') this.#settle({ end: this.#brokenEnd(), complete: false, error: this.#describeError() });
    else this.#books.tellProgress(this.#lastDataMs);
  }

  /** A stream that failed after content is charged for the delivered part; one that failed before costs nothing. */
  #brokenEnd(): 'cut' | 'failed' {
    return this.#state.name === 'passing' && this.#stream.report().outputCharacters > 0 ? 'cut' : 'failed';
  }

  /** From any state to `settled`, or `over`; once. */
  #settle(ending: StreamEnding, to: 'settled' | 'over' = 'settled'): void {
    if (this.#isSettled) return;
    const hasBegun = this.#state.name === 'passing' || this.#context.sink.hasBegun;
    this.#state = { name: to };
    this.#books.settle(ending, hasBegun);
  }

  end(): void {
    this.#whenCovered(() => this.#endWell());
  }

  #endWell(): void {
    if (this.#state.name === 'draining') return this.#settle({ end: 'client-left', complete: this.#stream.state() === 'complete' }, 'over');
    if (this.#state.name === 'over') return;
    if (this.#stream.state() === 'open') this.#closeLastFrame();
    const rest = this.#reader.rest();
    const isCut = (this.#stream.state() === 'open' && this.#stream.endsWithBody?.() !== true) || !isBlank(rest);
    if (isCut && !this.#isSettled) return this.fail(streamCut(this.#context.target));
    const last = this.#stream.end(isBlank(rest) ? rest : Buffer.alloc(0));
    if (this.#mustWordError()) return this.#answerError(last);
    this.#settle({ end: 'finished', complete: true });
    this.#delivery.end([...this.#delivery.release(), ...last]);
  }

  /**
   * Some servers end their last event without the blank line that closes it. It counts only if it is the dialect's own
   * end.
   */
  #closeLastFrame(): void {
    if (this.#framing !== 'sse' || isBlank(this.#reader.rest())) return;
    const frames = this.#reader.push(Buffer.from('\n\n'));
    const passed = frames.flatMap((frame) => this.#stream.read(frame));
    if (this.#stream.state() !== 'complete') return;
    this.#passOn(this.#letPass(passed));
  }

  fail(own: GatewayError): void {
    this.#whenCovered(() => this.#failWith(own));
  }

  /** From `opening` to `offered`, if another attempt can follow; otherwise the reply ends as failed. */
  #failWith(own: GatewayError): void {
    if (this.#state.name === 'draining') return this.clientLeft();
    if (this.#state.name !== 'opening' || this.#stream.state() === 'complete') return this.#endBroken(own);
    const { sink, handOver } = this.#context;
    const answer = (error = own): void => {
      this.#settle({ end: 'failed', complete: false, error });
      sink.fail(error);
    };
    if (!handOver({ error: own, answer })) return answer();
    if (!this.#isSettled) this.#state = { name: 'offered' };
  }

  #endBroken(error: GatewayError): void {
    const wasWhole = this.#isSettled || this.#stream.state() === 'complete';
    if (wasWhole) this.#settle({ end: 'finished', complete: true });
    else this.#settle({ end: this.#brokenEnd(), complete: false, error });
    // Nothing may follow the dialect's own end: the client has its whole answer, or the vendor's error event.
    this.#delivery.break(error, wasWhole, this.#stream.position());
  }

  /** From any state to `draining`, or `over`. */
  clientLeft(drains = false): void {
    const complete = this.#stream.state() === 'complete';
    if (complete || this.#isSettled) {
      this.#flow.stop();
      return this.#settle({ end: 'finished', complete }, 'over');
    }
    const { observer, leaving } = this.#context;
    const { policy = 'abort' } = leaving ?? {};
    const state = this.#state.name === 'waiting' ? this.#state.before : this.#state.name;
    const deliveredCharacters = state === 'passing' ? countDelivered(leaving, this.#stream) : 0;
    observer.left?.({ policy, deliveredCharacters });
    if (drains) return this.#drain();
    this.#flow.stop();
    this.#settle({ end: 'client-left', complete, ...(policy === 'deliver' ? { charged: deliveredCharacters } : {}) }, 'over');
  }

  #drain(): void {
    if (this.#state.name === 'waiting') this.#state.before = 'draining';
    else this.#state = { name: 'draining' };
    this.#flow.resume();
  }

  check(nowMs: number): void {
    const { timeouts, target, sink } = this.#context;
    const { name } = this.#state;
    if (name === 'draining' || name === 'waiting' || name === 'over') return;
    if (name === 'opening' && this.#delivery.isOpeningDue(nowMs)) this.#open();
    const stalledMs = this.#delivery.stalledMs(nowMs);
    if (stalledMs !== undefined) {
      if (stalledMs < timeouts.stalledReaderMs) return;
      this.clientLeft();
      return sink.destroy();
    }
    if (nowMs - this.#lastDataMs >= timeouts.idleMs) {
      this.#flow.stop();
      return this.fail(upstreamTimeout(target, 'event of the stream', timeouts.idleMs));
    }
    // A finished stream without an end mark waits for its last usage. A heartbeat would be the last event of the
    // client.
    if (this.#stream.state() === 'open') this.#delivery.beat(nowMs);
  }
}
