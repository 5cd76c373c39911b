import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { AnyExchange, Outcome, ReplyIntake, UndeliveredFailure, UpstreamFlow } from './exchange-context.ts';
import { upstreamTimeout } from './upstream-failure.ts';

export type CollectOptions = {
  readonly bytesMax: number;
  /** What the client is told about a body that is larger. */
  readonly tooLarge: string;
  /** How the call ends when the client leaves before the body is whole. */
  readonly endWhenLeft: Outcome['end'];
  /** What is known of the reply then. */
  readonly begun?: (() => ReplyReport) | undefined;
  /** What another attempt would have to know of the answer. */
  readonly refusal?: Pick<UndeliveredFailure, 'upstreamStatus' | 'headers'>;
  /** Called once with the whole body. It settles and answers the call, or calls `fail`. */
  readonly complete: (body: Buffer, fail: (error: GatewayError) => void) => void;
};

/**
 * Takes in a body as a whole, within its limits of size and silence. Nothing is sent before all has come, so every failure is still an HTTP
 * status.
 */
export function createCollectedReply(context: AnyExchange, flow: UpstreamFlow, options: CollectOptions): ReplyIntake {
  return new CollectedReply(context, flow, options);
}

/** Pieces that are kept apart until they are joined. */
const chunksMax = 4096;

class CollectedReply implements ReplyIntake {
  readonly #context: AnyExchange;
  readonly #flow: UpstreamFlow;
  readonly #options: CollectOptions;
  /** Pieces that were joined, and those that came after them. */
  readonly #joined: Buffer[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  #lastDataMs: number;
  /** It is read on although its client has left. */
  #drains = false;

  constructor(context: AnyExchange, flow: UpstreamFlow, options: CollectOptions) {
    this.#context = context;
    this.#flow = flow;
    this.#options = options;
    this.#lastDataMs = context.clock.monotonicMs();
  }

  data(chunk: Buffer): void {
    this.#lastDataMs = this.#context.clock.monotonicMs();
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#chunks.length === chunksMax) this.#joinChunks();
    if (this.#length <= this.#options.bytesMax) return;
    this.#flow.stop();
    this.fail(new GatewayError('upstream_reply_too_large', this.#options.tooLarge));
  }

  /** A piece of one byte takes as much memory as one of two hundred. */
  #joinChunks(): void {
    this.#joined.push(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  end(): void {
    const pieces = this.#joined.length === 0 ? this.#chunks : [...this.#joined, ...this.#chunks];
    const [only] = pieces;
    const body = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, this.#length);
    this.#options.complete(body, (error) => this.fail(error));
  }

  fail(own: GatewayError): void {
    if (this.#drains) return this.clientLeft();
    const { observer, sink, handOver } = this.#context;
    const answer = (error = own): void => {
      observer.settled({ end: 'failed', complete: false, error });
      sink.fail(error);
    };
    if (!handOver({ error: own, ...this.#options.refusal, answer })) answer();
  }

  clientLeft(drains = false): void {
    const { observer, leaving } = this.#context;
    const { endWhenLeft, begun } = this.#options;
    observer.left?.({ policy: leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    // Of an error nothing is to be learnt.
    this.#drains = drains && endWhenLeft === 'client-left';
    if (this.#drains) return;
    this.#flow.stop();
    observer.settled({ end: endWhenLeft, complete: false, ...(begun !== undefined && { report: begun() }) });
  }

  check(nowMs: number): void {
    const { target, timeouts } = this.#context;
    if (nowMs - this.#lastDataMs < timeouts.idleMs) return;
    this.#flow.stop();
    this.fail(upstreamTimeout(target, 'more of the reply', timeouts.idleMs));
  }
}
