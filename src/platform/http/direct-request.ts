import { IncomingMessage } from 'node:http';

/** Takes the pieces of a body as they come, and null at its end. */
export type BodyReceiver = (piece: Buffer | null) => void;

/** Looks at a body before anybody else does. */
export type BodyWatch = {
  /** What of it may go on, of this piece and those before. */
  readonly piece: (bytes: Buffer) => Buffer | undefined;
  /** All of it has come. Nobody is told so before `endBody` or `failBody`. */
  readonly whole: () => void;
};

/**
 * A request whose body can be taken as the parser finds it, without going through a stream's buffer, its states and its turns. For `createServer`.
 * Everything else is as with any other request; a body that ends early is still told by `aborted` and `error`.
 */
export class DirectRequest extends IncomingMessage {
  #receive: BodyReceiver | undefined;
  #watch: BodyWatch | undefined;

  /** Has the body handed to `take`. False, and nothing is handed over, when some of it has come already: then it has to be read as a stream. */
  takeBody(receive: BodyReceiver): boolean {
    if (this.complete || this.destroyed || this.readableLength > 0 || this.readableFlowing !== null) return false;
    this.#receive = receive;
    return true;
  }

  /** Has the body looked at, and its end held back. To be called before anything of it has come. */
  watchBody(watch: BodyWatch): void {
    this.#watch = watch;
  }

  /** Lets the end of a watched body go on, behind what was still held back of it. */
  endBody(rest: Buffer | undefined): void {
    this.#watch = undefined;
    if (rest !== undefined) this.push(rest);
    this.push(null);
  }

  /** Nobody gets the end of a watched body: whoever reads it, or begins to, is told that it cannot be read. */
  failBody(error: Error): void {
    this.#watch = undefined;
    this.#receive = undefined;
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
    const receive = this.#receive;
    if (receive === undefined) return super.push(piece, encoding);
    receive(piece);
    if (piece !== null) return true;
    // The stream has ended too, for whoever waits for that: the server does before it forgets the request.
    this.#receive = undefined;
    return super.push(null);
  }

  #pushWatched(watch: BodyWatch, piece: Buffer | null): boolean {
    if (piece === null) {
      watch.whole();
      return true;
    }
    const passed = watch.piece(piece);
    if (passed === undefined) return true;
    if (this.#receive === undefined) return super.push(passed);
    this.#receive(passed);
    return true;
  }
}
