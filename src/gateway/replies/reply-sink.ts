import type { StreamPosition } from '../../dialects/chat-codec.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * The destination of a call's reply. A connection receives bytes, a WebSocket or the log of a response receives events
 * of its dialect, and the tool loop receives neutral events. The exchange hands on pieces, or the error that ends the
 * reply; only the sink knows how a client receives them.
 */
export type ReplySink<Piece> = {
  /** Whether the head was sent. From then on a failure cannot become a status. */
  readonly hasBegun: boolean;
  /** Whether the reader has disconnected, or the reply was aborted. */
  readonly isGone: boolean;
  /** Whether its reader's side has received all of it. */
  readonly isDelivered: boolean;
  /** Sets a header of the head that will be written, also of an error. */
  readonly setHeader: (name: string, value: string) => void;
  /** Begins a stream. Called once, before its first piece. */
  readonly begin: (headers: Headers) => void;
  /** Sends the head before there is a piece. */
  readonly flush: () => void;
  /** Receives more pieces of a stream, at least one. False if the reader does not keep up: then `onRoom` follows. */
  readonly take: (pieces: readonly Piece[]) => boolean;
  /** The bytes that a piece counts for while it is held. */
  readonly sizeOf: (piece: Piece) => number;
  /** Sets headers that follow a stream. Absent if none can. */
  readonly setTrailers?: (headers: Headers) => void;
  readonly beat: () => void;
  /** Ends a stream that has begun. */
  readonly end: () => void;
  /** Sends a whole stream at once. */
  readonly takeWhole: (headers: Headers, pieces: readonly Piece[]) => void;
  /** Sends a whole reply, or the error of an upstream, which is not a stream. */
  readonly answer: (status: number, headers: Headers, body: Buffer) => void;
  /**
   * Ends the reply with an error: as a status if none was sent yet, otherwise as the last event of the stream.
   * @param position the position of the stream; absent if none of it was sent
   */
  readonly fail: (error: GatewayError, position?: StreamPosition) => void;
  /** Aborts the reply. */
  readonly destroy: () => void;
  /** Calls back once when there is room again. */
  readonly onRoom: (listener: () => void) => void;
  /** Calls back when the reader has received all of the reply, or has disconnected. */
  readonly onClose: (listener: () => void) => void;
  /** Aborts a reply that has ended if none of it leaves for `stalledMs`. */
  readonly limitReader: (stalledMs: number) => void;
};
