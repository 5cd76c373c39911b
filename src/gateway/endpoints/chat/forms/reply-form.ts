import type { ReplyWriting, StreamPosition } from '../../../../dialects/chat-codec.ts';
import type { StreamCutter, TapOptions } from '../../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { Frame, StreamEvent } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** Writes one stream of neutral events in the pieces that its sink takes. */
export type PieceWriter<Piece> = {
  readonly write: (events: readonly InferenceEvent[]) => readonly Piece[];
  /** What opens the reply, where `write` keeps it for the first content. */
  readonly open: () => readonly Piece[];
  /** Characters of content in what was written. */
  readonly deliveredCharacters: () => number;
  readonly position: () => StreamPosition;
  /** The reply so far as it is to be kept; absent where nothing is kept. */
  readonly kept?: (() => JsonObject) | undefined;
};

/** How frames of an upstream that speaks the client's dialect go on. */
export type PassingForm<Piece> = {
  readonly pass: (frame: Frame) => Piece;
  /** The white space behind the last frame. */
  readonly rest: (bytes: Buffer) => readonly Piece[];
  readonly createCutter: (options: TapOptions) => StreamCutter<readonly Piece[]>;
};

/** What the sink of a chat's reply takes: how the client's dialect is written in its pieces. */
export type ReplyForm<Piece> = {
  readonly createWriter: (writing: ReplyWriting) => PieceWriter<Piece>;
  /** Absent where nothing can go on as it came: then every reply is translated. */
  readonly passing?: PassingForm<Piece>;
  /** The dialect's events in some pieces; absent where replies are not kept. */
  readonly eventsOf?: (pieces: readonly Piece[]) => readonly StreamEvent[];
};
