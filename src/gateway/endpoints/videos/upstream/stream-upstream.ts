import { AskError } from '../../../../platform/http/ask-upstream.ts';
import type { ReplyHeaders } from '../../../../platform/http/reply-head.ts';
import type { UpstreamClient, UpstreamController, UpstreamRequest } from '../../../../platform/http/upstream-client.ts';

export type StreamTimeouts = {
  /** Until the status line, in milliseconds. */
  readonly firstByteMs: number;
  /** Between two pieces, in milliseconds. */
  readonly idleMs: number;
};

/** An answer with a body that is read on demand. */
export type StreamedAnswer = {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Can be read once. Ending it early ends the connection. */
  readonly content: AsyncIterable<Buffer>;
};

/** Unread pieces before the upstream must wait. */
const queuedPiecesMax = 4;

/** An exchange with a body that is read piece by piece. */
class StreamedBody implements AsyncIterable<Buffer> {
  readonly head = Promise.withResolvers<{ readonly status: number; readonly headers: ReplyHeaders }>();
  readonly #timeouts: StreamTimeouts;
  readonly #signal: AbortSignal;
  readonly #pieces: Buffer[] = [];
  #controller: UpstreamController | undefined;
  #error: Error | undefined;
  #isOver = false;
  #isPaused = false;
  #wake: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeouts: StreamTimeouts, signal: AbortSignal) {
    this.#timeouts = timeouts;
    this.#signal = signal;
  }

  send(client: UpstreamClient, request: UpstreamRequest): void {
    if (this.#signal.aborted) return this.#onAbort();
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#expect(this.#timeouts.firstByteMs);
    client.send(request, {
      onRequestStart: (controller) => (this.#controller = controller),
      onResponseStart: (_, status, headers) => {
        if (status < 200) return;
        this.#expect(this.#timeouts.idleMs);
        this.head.resolve({ status, headers });
      },
      onResponseData: (_, piece) => this.#onPiece(piece),
      onResponseEnd: () => this.#end(undefined),
      onResponseError: (_, error) => this.#end(error),
    });
  }

  readonly #onAbort = (): void => this.#giveUp(new AskError('ABORTED', 'it was cut short', undefined));

  /** Starts the timeout of the upstream; it does not run under back-pressure. */
  #expect(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(new AskError('TIMEOUT', `nothing arrived for ${ms} ms`, undefined)), ms);
  }

  #onPiece(piece: Buffer): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= queuedPiecesMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#controller?.pause();
      clearTimeout(this.#timer);
    } else if (!this.#isPaused) this.#expect(this.#timeouts.idleMs);
    this.#wake?.();
  }

  #giveUp(error: Error): void {
    this.#controller?.abort(error);
    this.#end(error);
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.head.reject(error ?? new AskError('UNKNOWN', 'the reply ended before it began', undefined));
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    const reading = this.#read();
    return {
      next: () => reading.next(),
      return: () => {
        // A generator that has not started would not clean up, and the connection exists already.
        this.#giveUp(new AskError('ABORTED', 'nobody reads on', undefined));
        return reading.return(undefined);
      },
    };
  }

  async *#read(): AsyncGenerator<Buffer, undefined> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        yield piece;
        continue;
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#isOver) return undefined;
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#expect(this.#timeouts.idleMs);
      this.#controller?.resume();
    }
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }
}

/**
 * Sends a request and resolves with the answer when its head arrives; the reader sets the pace of the body. Rejects
 * with AskError, or as the client does.
 */
export async function streamUpstream(
  client: UpstreamClient,
  request: UpstreamRequest,
  { timeouts, signal }: { readonly timeouts: StreamTimeouts; readonly signal: AbortSignal },
): Promise<StreamedAnswer> {
  const body = new StreamedBody(timeouts, signal);
  body.send(client, request);
  return { ...(await body.head.promise), content: body };
}

/** Discards an answer and frees its connection. */
export async function discard(content: AsyncIterable<Buffer>): Promise<void> {
  await content[Symbol.asyncIterator]().return?.();
}
