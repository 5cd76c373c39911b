import type { StreamPosition } from '../../../dialects/chat-codec.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import { checkIntervalMs } from '../../../platform/http/deadlines.ts';
import type { ExchangeContext, UpstreamFlow } from './exchange-context.ts';
import type { StreamRelay } from './reply-relay.ts';

/** The most bytes of held opening frames. Responses repeats the whole request in two of them. */
const heldBytesMax = 4 * 1024 * 1024;

export type DeliveryOptions = {
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: Pick<StreamRelay<unknown>, 'kept'>;
  /** Paused while the client does not read. */
  readonly flow: Pick<UpstreamFlow, 'pause' | 'resume'>;
  /** Called when the client reads again. */
  readonly onResumed: () => void;
};

/**
 * The client's side of a stream. It holds the opening frames, passes the others on no faster than the client reads, and
 * delays the end of the reply until that reply is stored.
 */
export class StreamDelivery<Piece> {
  readonly #context: ExchangeContext<Piece>;
  readonly #options: DeliveryOptions;
  /**
   * The opening frames, which are held until content arrives, because until then another attempt can answer instead.
   * The operator limits the time, because the client of a slow reasoning model would receive nothing.
   */
  #held: Piece[] | undefined = [];
  #heldBytes = 0;
  readonly #heldUntilMs: number;
  #lastWriteMs: number;
  #pausedSinceMs: number | undefined;
  /** The last waiting step, and those before it. */
  #waiting: Promise<void> | undefined;
  #isKept = false;

  constructor(context: ExchangeContext<Piece>, options: DeliveryOptions) {
    const { clock, holdOpeningMs = Infinity } = context;
    this.#context = context;
    this.#options = options;
    this.#lastWriteMs = clock.monotonicMs();
    this.#heldUntilMs = this.#lastWriteMs + holdOpeningMs;
  }

  /**
   * Holds more of the opening.
   * @returns whether there is room for more
   */
  hold(pieces: readonly Piece[]): boolean {
    for (const piece of pieces) this.#heldBytes += this.#context.sink.sizeOf(piece);
    this.#held?.push(...pieces);
    return this.#heldBytes <= heldBytesMax;
  }

  /** Returns the held pieces of the opening. */
  release(): readonly Piece[] {
    const pieces = this.#held ?? [];
    this.#held = undefined;
    return pieces;
  }

  /** Whether the opening must be released now: the next check would be too late. */
  isOpeningDue(nowMs: number): boolean {
    return this.#held !== undefined && nowMs + checkIntervalMs > this.#heldUntilMs;
  }

  /** Sends the client the head and the opening. */
  open(opening: readonly Piece[]): void {
    const { sink, clock } = this.#context;
    if (sink.isGone) return;
    this.#begin();
    if (opening.length > 0) this.#write(opening, clock.monotonicMs());
    else sink.flush();
  }

  /**
   * Passes on more pieces, which arrived at `nowMs`.
   * @param isLast whether the reply ends with them
   */
  pass(pieces: readonly Piece[], nowMs: number, isLast: boolean): void {
    if (!isLast && this.#waiting === undefined) this.#write(pieces, nowMs);
    else this.#afterKeeping(isLast, () => this.#write(pieces, nowMs));
  }

  /** Passes on the last pieces, and ends the reply. */
  end(pieces: readonly Piece[]): void {
    const { sink, clock } = this.#context;
    this.#afterKeeping(true, () => {
      this.#write(pieces, clock.monotonicMs());
      if (!sink.isGone) this.#begin();
      sink.end();
    });
  }

  /**
   * Ends a failed reply.
   * @param wasWhole whether the client has all of it: then nothing may follow
   */
  break(error: GatewayError, wasWhole: boolean, position: StreamPosition): void {
    const { sink } = this.#context;
    // The whole reply waits here. A failure after it does not concern its client.
    if (wasWhole && this.#waiting !== undefined) return this.#afterKeeping(false, () => sink.end());
    if (wasWhole && sink.hasBegun) sink.end();
    else sink.fail(error, position);
  }

  /** Runs a step at once. The last step, and each step behind a waiting one, waits until the reply is stored. */
  #afterKeeping(ends: boolean, step: () => void): void {
    if (ends && !this.#isKept && this.#options.stream.kept !== undefined) {
      this.#isKept = true;
      this.#waiting = this.#options.stream.kept();
    }
    if (this.#waiting === undefined) return step();
    const waits = this.#waiting.then(step).finally(() => {
      if (this.#waiting === waits) this.#waiting = undefined;
    });
    this.#waiting = waits;
  }

  #begin(): void {
    const { sink } = this.#context;
    if (!sink.hasBegun) sink.begin(this.#options.headers);
  }

  #write(pieces: readonly Piece[], nowMs: number): void {
    const { sink } = this.#context;
    if (pieces.length === 0 || sink.isGone) return;
    this.#begin();
    this.#lastWriteMs = nowMs;
    if (sink.take(pieces) || this.#pausedSinceMs !== undefined) return;
    this.#pausedSinceMs = this.#context.clock.monotonicMs();
    this.#options.flow.pause();
    sink.onRoom(() => this.#goOn());
  }

  #goOn(): void {
    this.#pausedSinceMs = undefined;
    this.#options.onResumed();
    this.#options.flow.resume();
  }

  /** How long the client has not read its pieces. Undefined while it keeps up. */
  stalledMs(nowMs: number): number | undefined {
    return this.#pausedSinceMs === undefined ? undefined : nowMs - this.#pausedSinceMs;
  }

  /** Sends a heartbeat to a client that received nothing for `heartbeatMs`. */
  beat(nowMs: number): void {
    const { sink, timeouts } = this.#context;
    if (nowMs - this.#lastWriteMs < timeouts.heartbeatMs || sink.isGone) return;
    this.#begin();
    this.#lastWriteMs = nowMs;
    sink.beat();
  }
}
