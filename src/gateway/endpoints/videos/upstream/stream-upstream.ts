import { AskError } from '../../../../platform/http/ask-upstream.ts';
import type { ReplyHeaders } from '../../../../platform/http/reply-head.ts';
import type { UpstreamClient, UpstreamController, UpstreamRequest } from '../../../../platform/http/upstream-client.ts';

export type StreamTimeouts = {
  /** To the status line, in milliseconds. */
  readonly firstByteMs: number;
  /** Between two pieces. */
  readonly idleMs: number;
};

/** An answer whose body is read as it is taken. */
export type StreamedAnswer = {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** To be read once. Ending it early ends the connection. */
  readonly content: AsyncIterable<Buffer>;
};

/** Pieces that may lie unread before the upstream has to wait. */
const queuedPiecesMax = 4;

/** One exchange whose body somebody takes piece by piece. */
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

  /** Waits for the upstream, and not while it has to wait itself. */
  #expect(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(new AskError('TIMEOUT', `nothing came for ${ms} ms`, undefined)), ms);
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
        // Not left to the generator: one that has not begun cleans up nothing, but the connection is there already.
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
 * Sends a request and resolves with the answer when its head has come; the body is read at the pace of whoever takes it.
 * Rejects with AskError, or as the client does.
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

/** Reads nothing of an answer and frees its connection. */
export async function discard(content: AsyncIterable<Buffer>): Promise<void> {
  await content[Symbol.asyncIterator]().return?.();
}
