import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { ExchangeContext, ReplyIntake, UpstreamFlow } from './exchange-context.ts';
import type { BytesRelay } from './reply-relay.ts';
import { StreamDelivery } from './stream-delivery.ts';
import { failUndelivered, upstreamTimeout } from './upstream-failure.ts';

/** The headers for the client, and those from the upstream. */
type Heads = { readonly passed: Readonly<Record<string, string>>; readonly received: ReplyHeaders };

/**
 * Passes on a reply without frames, such as a file, no faster than its client reads it. No error event can follow such
 * bytes. If the upstream fails, the client's connection is closed, because a truncated file would look whole.
 */
export class BytesReply<Piece = Buffer> implements ReplyIntake {
  readonly #context: ExchangeContext<Piece>;
  readonly #flow: UpstreamFlow;
  readonly #relay: BytesRelay<Piece>;
  readonly #received: ReplyHeaders;
  readonly #delivery: StreamDelivery<Piece>;
  #hasBegun = false;
  #lastDataMs: number;
  /** Set while the reply is read to its end after the client disconnected. */
  #drains = false;

  constructor(context: ExchangeContext<Piece>, flow: UpstreamFlow, relay: BytesRelay<Piece>, { passed, received }: Heads) {
    this.#context = context;
    this.#flow = flow;
    this.#relay = relay;
    this.#received = received;
    this.#lastDataMs = context.clock.monotonicMs();
    const onResumed = (): void => void (this.#lastDataMs = context.clock.monotonicMs());
    this.#delivery = new StreamDelivery(context, { headers: passed, flow, stream: {}, onResumed });
  }

  data(chunk: Buffer): void {
    this.#lastDataMs = this.#context.clock.monotonicMs();
    if (!this.#drains && this.#begin(chunk)) this.#delivery.pass([this.#relay.pieceOf(chunk)], this.#lastDataMs, false);
  }

  /**
   * Whether the reply may go to the client.
   * @param first absent if the reply is empty
   */
  #begin(first: Buffer | undefined): boolean {
    if (this.#hasBegun) return true;
    // Heartbeats of an earlier attempt have begun a stream.
    const wrong = this.#context.sink.hasBegun ? noStream() : this.#relay.check(first, this.#received);
    if (wrong !== undefined) {
      this.#flow.stop();
      this.fail(wrong);
      return false;
    }
    this.#hasBegun = true;
    this.#context.observer.firstContent();
    return true;
  }

  end(): void {
    const { observer } = this.#context;
    if (this.#drains) return observer.settled({ end: 'client-left', complete: true });
    if (this.#begin(undefined)) observer.settled({ end: 'finished', complete: true }, () => this.#delivery.end([]));
  }

  fail(own: GatewayError): void {
    if (this.#drains) return this.clientLeft();
    const { observer, sink } = this.#context;
    if (this.#hasBegun) {
      observer.settled({ end: 'cut', complete: false, error: own });
      return sink.destroy();
    }
    failUndelivered(this.#context, own);
  }

  clientLeft(drains = false): void {
    const { observer, leaving } = this.#context;
    observer.left?.({ policy: leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    if ((this.#drains = drains)) return this.#flow.resume();
    this.#flow.stop();
    observer.settled({ end: 'client-left', complete: false });
  }

  check(nowMs: number): void {
    const { timeouts, target, sink } = this.#context;
    if (this.#drains) return;
    const stalledMs = this.#delivery.stalledMs(nowMs);
    if (stalledMs !== undefined) {
      if (stalledMs < timeouts.stalledReaderMs) return;
      this.clientLeft();
      sink.destroy();
    } else if (nowMs - this.#lastDataMs >= timeouts.idleMs) {
      this.#flow.stop();
      this.fail(upstreamTimeout(target, 'more of the reply', timeouts.idleMs));
    }
  }
}

function noStream(): GatewayError {
  const message = 'Upstream connection error: the model service did not answer with a stream.';
  return new GatewayError('upstream_invalid_reply', message);
}
