import { IncomingMessage } from 'node:http';

/** Takes the pieces of a body as they come, and null at its end. */
export type BodyTaker = (piece: Buffer | null) => void;

/**
 * A request whose body can be taken as the parser finds it, without going through a stream's buffer, its states and its turns. For `createServer`.
 * Everything else is as with any other request; a body that ends early is still told by `aborted` and `error`.
 */
export class DirectRequest extends IncomingMessage {
  #take: BodyTaker | undefined;

  /** Has the body handed to `take`. False, and nothing is handed over, when some of it has come already: then it has to be read as a stream. */
  takeBody(take: BodyTaker): boolean {
    if (this.complete || this.destroyed || this.readableLength > 0 || this.readableFlowing !== null) return false;
    this.#take = take;
    return true;
  }

  /** Called by the parser. */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const take = this.#take;
    if (take === undefined) return super.push(piece, encoding);
    take(piece);
    if (piece !== null) return true;
    // The stream has ended too, for whoever waits for that: the server does before it forgets the request.
    this.#take = undefined;
    return super.push(null);
  }
}
