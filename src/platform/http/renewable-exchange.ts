import type { DeferredExchange } from './deferred-exchange.ts';
import type { ReplyHeaders } from './reply-head.ts';
import type { UpstreamController, UpstreamHandler } from './upstream-connection.ts';

const sentAgain = new Error('the request is sent again with another credential');

/**
 * The first attempt of a request whose credential may turn out to be refused. Such an answer waits until it is known
 * whether there is another credential: then it is dropped and the request is sent again, otherwise it passes.
 */
export class RenewableExchange implements UpstreamHandler {
  readonly #exchange: DeferredExchange;
  readonly #renewal: (status: number, headers: ReplyHeaders) => Promise<boolean> | undefined;
  readonly #sendAgain: () => void;
  readonly #track: (work: Promise<void>) => void;
  /** Events of an answer that waits: few, because the connection is not read meanwhile. Undefined: none waits. */
  #waiting: (() => void)[] | undefined;
  #isDropped = false;

  constructor(
    exchange: DeferredExchange,
    renewal: (status: number, headers: ReplyHeaders) => Promise<boolean> | undefined,
    sendAgain: () => void,
    track: (work: Promise<void>) => void,
  ) {
    this.#exchange = exchange;
    this.#renewal = renewal;
    this.#sendAgain = sendAgain;
    this.#track = track;
  }

  onRequestStart(controller: UpstreamController): void {
    this.#exchange.onRequestStart(controller);
  }

  onResponseStart(controller: UpstreamController, status: number, headers: ReplyHeaders): void {
    if (this.#isDropped) return;
    const renewal = status < 200 ? undefined : this.#renewal(status, headers);
    const pass = (): void => this.#exchange.onResponseStart(controller, status, headers);
    if (renewal === undefined) return pass();
    this.#waiting = [pass];
    controller.pause();
    this.#track(this.#decide(renewal, controller));
  }

  async #decide(renewal: Promise<boolean>, controller: UpstreamController): Promise<void> {
    // Without another credential the answer is the best that there is, whatever the reason.
    const isRenewed = await renewal.catch(() => false);
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    if (!isRenewed || this.#exchange.isOver) {
      for (const pass of waiting) pass();
      if (!this.#exchange.isPaused) controller.resume();
      return;
    }
    this.#isDropped = true;
    controller.abort(sentAgain);
    this.#sendAgain();
  }

  onResponseData(controller: UpstreamController, piece: Buffer): void {
    this.#pass(() => this.#exchange.onResponseData(controller, piece));
  }

  onResponseEnd(): void {
    this.#pass(() => this.#exchange.onResponseEnd());
  }

  onResponseError(controller: UpstreamController, error: Error): void {
    this.#pass(() => this.#exchange.onResponseError(controller, error));
  }

  #pass(event: () => void): void {
    if (this.#isDropped) return;
    if (this.#waiting === undefined) event();
    else this.#waiting.push(event);
  }
}
