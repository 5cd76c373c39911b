import { IncomingMessage } from 'node:http';

/** Receives a body. The memory of its pieces is the receiver's from then on. */
export type BodyReceiver = { readonly receive: (piece: Buffer) => void; readonly end: () => void };

/** Sees a body before its reader does. */
export type BodyWatch = {
  /** Returns the bytes to pass on now, from this piece and those before it. */
  readonly piece: (bytes: Buffer) => Buffer | undefined;
  /** The body is whole. Its reader sees no end before `endBody` or `failBody`. */
  readonly whole: () => void;
};

/**
 * A request whose body can be received directly from the parser, without the buffers and delays of a stream. For
 * `createServer`. Everything else is as in any other request: a body that ends early still causes `aborted` and
 * `error`.
 */
export class DirectRequest extends IncomingMessage {
  #receiver: BodyReceiver | undefined;
  #watch: BodyWatch | undefined;

  /**
   * Sends the body to a receiver. Returns false if a part of it has arrived already; then it must be read as a stream.
   */
  takeBody(receiver: BodyReceiver): boolean {
    if (this.complete || this.destroyed || this.readableLength > 0 || this.readableFlowing !== null) return false;
    this.#receiver = receiver;
    return true;
  }

  /** Shows the body to a watch, which holds back its end. Call it before any of the body has arrived. */
  watchBody(watch: BodyWatch): void {
    this.#watch = watch;
  }

  /** Passes on the end of a watched body, after the bytes that were still held back. */
  endBody(rest: Buffer | undefined): void {
    this.#watch = undefined;
    if (rest !== undefined) this.push(rest);
    this.push(null);
  }

  /** Fails a watched body: its present and later readers receive the error, and no end. */
  failBody(error: Error): void {
    this.#watch = undefined;
    this.#receiver = undefined;
    if (this.listenerCount('error') > 0) this.emit('error', error);
    this.on('newListener', (name) => {
      if (name === 'error') process.nextTick(() => this.emit('error', error));
    });
    // The server forgets a request when its stream has ended.
    this.push(null);
    this.resume();
  }

  /** Called by the parser. */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#watch !== undefined) return this.#pushWatched(this.#watch, piece);
    const receiver = this.#receiver;
    if (receiver === undefined) return super.push(piece, encoding);
    if (piece !== null) {
      receiver.receive(piece);
      return true;
    }
    receiver.end();
    // The stream ends too, because the server waits for that before it forgets the request.
    this.#receiver = undefined;
    return super.push(null);
  }

  #pushWatched(watch: BodyWatch, piece: Buffer | null): boolean {
    if (piece === null) {
      watch.whole();
      return true;
    }
    const passed = watch.piece(piece);
    if (passed === undefined) return true;
    if (this.#receiver === undefined) return super.push(passed);
    this.#receiver.receive(passed);
    return true;
  }
}
