import type { ReplyHeaders } from './reply-head.ts';
import type { UpstreamClient, UpstreamController, UpstreamHandler, UpstreamRequest } from './upstream-client.ts';

type Sender = Pick<UpstreamClient, 'send'>;

/** How a request is sent in parts. */
export type GatherOptions = {
  /** The body of each part. Its path and headers are those of the request. */
  readonly bodies: readonly Buffer[];
  /** Makes one body of those of all replies, in the order of the parts. */
  readonly join: (replies: readonly Buffer[]) => Buffer;
  /** Parts that are under way at a time. */
  readonly partsAtOnce: number;
  /** The most bytes of all replies together. */
  readonly bytesMax: number;
};

/** The replies of the parts are larger than permitted. */
class GatheredTooLargeError extends Error {
  readonly code = 'REPLY_TOO_LARGE';
  constructor(bytesMax: number) {
    super(`the replies of the parts have more than ${bytesMax} bytes`);
    this.name = 'GatheredTooLargeError';
  }
}

/**
 * A client that sends each request in parts, and whose handler receives one reply. The first reply that is not a 200
 * becomes the reply to the whole, and ends the other parts.
 */
export function gatherReplies(client: Sender, options: GatherOptions): Sender {
  return { send: (request, handler) => new Gathering(client, request, handler, options).start() };
}

/** One request in parts. */
class Gathering implements UpstreamController {
  readonly #client: Sender;
  readonly #request: UpstreamRequest;
  readonly #handler: UpstreamHandler;
  readonly #options: GatherOptions;
  readonly #running = new Set<UpstreamController>();
  readonly #replies: Buffer[] = [];
  #sent = 0;
  #finished = 0;
  #bytes = 0;
  #isOver = false;

  constructor(client: Sender, request: UpstreamRequest, handler: UpstreamHandler, options: GatherOptions) {
    this.#client = client;
    this.#request = request;
    this.#handler = handler;
    this.#options = options;
  }

  start(): void {
    this.#handler.onRequestStart(this);
    for (let count = 0; count < this.#options.partsAtOnce; count += 1) this.#sendNext();
  }

  abort(reason: Error): void {
    this.#isOver = true;
    for (const controller of this.#running) controller.abort(reason);
    this.#running.clear();
  }

  // The reply comes at once, when all parts are there.
  pause(): void {}
  resume(): void {}

  #sendNext(): void {
    const body = this.#options.bodies[this.#sent];
    if (this.#isOver || body === undefined) return;
    const part = this.#sent;
    this.#sent += 1;
    this.#client.send({ ...this.#request, body }, this.#handlePart(part));
  }

  #handlePart(part: number): UpstreamHandler {
    const pieces: Buffer[] = [];
    let head: { readonly status: number; readonly headers: ReplyHeaders } = { status: 0, headers: {} };
    return {
      onRequestStart: (controller) => {
        // It waited for a connection meanwhile.
        if (this.#isOver) controller.abort(new Error('the whole request has ended'));
        else this.#running.add(controller);
      },
      onResponseStart: (_controller, status, headers) => {
        head = { status, headers };
      },
      onResponseData: (_controller, piece) => {
        pieces.push(piece);
        this.#bytes += piece.length;
        if (this.#bytes > this.#options.bytesMax) this.#fail(new GatheredTooLargeError(this.#options.bytesMax));
      },
      onResponseEnd: (controller) => {
        this.#running.delete(controller);
        if (this.#isOver) return;
        const body = Buffer.concat(pieces);
        if (head.status !== 200) return this.#answer(head.status, head.headers, body);
        this.#replies[part] = body;
        this.#finished += 1;
        if (this.#finished < this.#options.bodies.length) this.#sendNext();
        else this.#answer(200, head.headers, this.#options.join(this.#replies));
      },
      onResponseError: (controller, error) => {
        this.#running.delete(controller);
        this.#fail(error);
      },
    };
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.abort(error);
    this.#handler.onResponseError(this, error);
  }

  #answer(status: number, headers: ReplyHeaders, body: Buffer): void {
    this.abort(new Error('another part of the request was answered with an error'));
    this.#isOver = false;
    const { 'content-length': _length, ...others } = headers;
    this.#handler.onResponseStart(this, status, others);
    // The handler may abort after each event.
    if (!this.#isOver) this.#handler.onResponseData(this, body);
    if (!this.#isOver) this.#handler.onResponseEnd(this);
    this.#isOver = true;
  }
}
