import type { IncomingHttpHeaders } from 'node:http';

import type { ReplyReport, StreamReport } from '../../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { Frame, StreamFraming } from '../../../platform/frames.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { GatewayLimits } from '../../settings/limits.ts';

/** An upstream's error answer on its way to the client. */
type ErrorAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body. */
  readonly body: unknown;
};

/**
 * The charge for a reply with this report. A relay that writes usage itself calls it at the end, so that its client
 * receives the charged figures.
 * @param complete whether the upstream's report is final
 */
export type ChargedUsage = (report: ReplyReport, complete: boolean) => UsageReport;

/** A written whole reply: a body, or the pieces of a stream. */
export type WrittenReply<Piece> = Buffer | readonly Piece[];

/**
 * Carries a reply from the upstream's dialect to the client's. Passthrough hands on the bytes; translation reads them
 * into the neutral form and writes that. The exchange does the I/O for both, and metering reads the upstream's own
 * bytes for both.
 */
export type ReplyRelay<Piece = Buffer> = {
  /** The framing of the upstream's stream. */
  readonly upstreamFraming: StreamFraming | undefined;
  /** The headers of the client's reply, made from the upstream's. */
  readonly replyHeaders: (headers: IncomingHttpHeaders) => Record<string, string>;
  /** The form of a successful reply with these headers. Absent: as requested, and whole if its type is JSON or HTML. */
  readonly shapeOf?: (headers: IncomingHttpHeaders) => 'whole' | 'stream' | 'bytes';
  /** Absent if no reply comes as bytes. */
  readonly bytes?: BytesRelay<Piece> | undefined;
  /**
   * Parses the body of a whole reply. Absent: as JSON.
   * @throws GatewayError for an invalid reply
   */
  readonly parse?: (body: Buffer) => unknown;
  readonly readReply: (reply: unknown) => ReplyReport;
  /**
   * The report of a reply that has begun but was not read. A client that disconnects then is charged for it. Absent if
   * nothing is known.
   */
  readonly begun?: () => ReplyReport;
  /** The body for the client. Called once for a successful reply, before the call is settled. */
  readonly writeReply: (reply: unknown, bytes: Buffer, charged?: ChargedUsage) => Buffer;
  /** The same for a client that requested a stream. Absent if a whole reply cannot become a stream. */
  readonly replay?: ((reply: unknown, bytes: Buffer, charged?: ChargedUsage) => readonly Piece[]) | undefined;
  /** The reply as written, with content that its client did not request. Absent if there is no such content. */
  readonly wholeReply?: () => JsonObject | undefined;
  /**
   * Work that must be done before the client receives its whole reply. Called after it was written; never rejects. If
   * it resolves with a reply, that is sent instead.
   */
  readonly kept?: () => Promise<WrittenReply<Piece> | void> | undefined;
  /**
   * @param limits bounds of the data that the stream may hold: its `read` throws GatewayError beyond them
   * @param mayBeCut whether it may have to end early
   */
  readonly openStream: (limits: Pick<GatewayLimits, 'replyBytesMax'>, mayBeCut?: boolean, charged?: ChargedUsage) => StreamRelay<Piece>;
  /** The reworded error for the client. Undefined if the upstream's answer is passed on unchanged. */
  readonly readError: (answer: ErrorAnswer) => GatewayError | undefined;
  /** Words an error answer by its bytes. Undefined, or absent: by `readError` if it is JSON, and by its status. */
  readonly readRefusal?: (answer: {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }) => GatewayError | undefined;
  /** Writes a frame of a binary stream in the form of the upstream's dialect. Absent: frames are in that form. */
  readonly reframe?: (frame: Frame) => readonly Frame[];
  /** Edits the body of an upstream's error that is not reworded. Undefined, or absent, if it is passed on unchanged. */
  readonly editError?: ((status: number, body: JsonValue) => JsonObject | undefined) | undefined;
};

/** The relay of a reply without frames. */
export type BytesRelay<Piece = Buffer> = {
  /** The error of a reply with these first bytes, or of an empty one. Undefined if it is valid. */
  readonly check: (first: Buffer | undefined, headers: IncomingHttpHeaders) => GatewayError | undefined;
  readonly pieceOf: (chunk: Buffer) => Piece;
};

/** The relay of one stream. Pure and synchronous. */
export type StreamRelay<Piece = Buffer> = {
  /** The pieces that a frame of the upstream becomes for the client. */
  readonly read: (frame: Frame) => readonly Piece[];
  /**
   * Whether `read` takes long for a large frame. Such a frame waits if the turn of the event loop has worked for long.
   * Other frames never wait, because they would only take memory meanwhile.
   */
  readonly isSlow?: boolean;
  /**
   * The piece of a chunk of whole frames that is passed on as it is, and only adds text to the reply. Undefined if the
   * chunk must be read frame by frame. Absent if every chunk must.
   */
  readonly skim?: ((chunk: Buffer) => Piece | undefined) | undefined;
  /** The held part of the opening, which no longer waits for content. Absent if nothing is held. */
  readonly open?: () => readonly Piece[];
  /**
   * The last pieces for the client, after a proper end of the upstream's body. `rest` is the white space after the last
   * frame.
   */
  readonly end: (rest: Buffer) => readonly Piece[];
  readonly state: () => StreamReport['state'];
  /** Whether the upstream has begun the reply itself. Before that nothing needs to go to the client. */
  readonly hasContent: () => boolean;
  readonly report: () => StreamReport;
  /** Characters of content in the pieces of `read`. Absent: as many as the report counts. */
  readonly deliveredCharacters?: () => number;
  /** True if the client's reply has ended before the upstream's. The rest is not needed. */
  readonly endedEarly: () => boolean;
  /** The reply so far, with content that its client did not request. Absent if there is no such content. */
  readonly wholeReply?: () => JsonObject | undefined;
  /** Work that must be done before the client receives the end of its reply. Called once, at the end; never rejects. */
  readonly kept?: () => Promise<void> | undefined;
  /** The end of a reply as if its model had reached its output bound. Only for a stream that may be cut. */
  readonly cut: (usage: Usage) => readonly Piece[];
  /** Called if the reply fails after its client received a part of it. */
  readonly broke?: (error: GatewayError) => void;
  /** Whether the end of the body ends the reply, because the upstream has no end event. Absent: it never does. */
  readonly endsWithBody?: () => boolean;
  /** True if nothing that counts follows a `complete` state. */
  readonly hasEndMark: boolean;
  /**
   * Whether the pieces of the upstream's error event inform the client of the failure. Otherwise the exchange words it.
   */
  readonly passesErrors: (headersSent: boolean) => boolean;
  /** The position in the client's stream, for an error event that ends it. */
  readonly position: () => Pick<StreamReport, 'lastSequenceNumber' | 'partialResponse'> & { readonly framesSent: number };
};
