import type { ReplyWriting, StreamPosition } from '../../../../dialects/chat-codec.ts';
import type { StreamCutter, TapOptions } from '../../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { Frame, StreamEvent } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** Writes one stream of neutral events in the pieces that its sink accepts. */
export type PieceWriter<Piece> = {
  readonly write: (events: readonly InferenceEvent[]) => readonly Piece[];
  /** Opens the reply if `write` holds the opening until the first content. */
  readonly open: () => readonly Piece[];
  /** Characters of content that were written. */
  readonly deliveredCharacters: () => number;
  readonly position: () => StreamPosition;
  /** The reply so far as it is stored; absent if nothing is stored. */
  readonly kept?: (() => JsonObject) | undefined;
};

/** How frames pass from an upstream that speaks the client's dialect. */
export type PassingForm<Piece> = {
  readonly pass: (frame: Frame) => Piece;
  /** The white space behind the last frame. */
  readonly rest: (bytes: Buffer) => readonly Piece[];
  readonly createCutter: (options: TapOptions) => StreamCutter<readonly Piece[]>;
};

/** How the client's dialect is written in the pieces that the sink of a chat's reply accepts. */
export type ReplyForm<Piece> = {
  readonly createWriter: (writing: ReplyWriting) => PieceWriter<Piece>;
  /** Absent if nothing can pass through: every reply is then translated. */
  readonly passing?: PassingForm<Piece>;
  /** The dialect's events in some pieces; absent if replies are not stored. */
  readonly eventsOf?: (pieces: readonly Piece[]) => readonly StreamEvent[];
};
