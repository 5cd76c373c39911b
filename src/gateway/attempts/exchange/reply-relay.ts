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
 * What is charged for a reply of which so much is known. A relay that writes the usage itself asks at the end, so that its client is told what it is charged for.
 * @param complete whether the upstream has said all of it
 */
export type ChargedUsage = (report: ReplyReport, complete: boolean) => UsageReport;

/** A whole reply as it was written: a body, or the pieces of a stream. */
export type WrittenReply<Piece> = Buffer | readonly Piece[];

/**
 * How a reply gets from the upstream's dialect into the client's. There are two: passthrough hands on what comes, translation reads them
 * into the neutral form and writes them anew. The exchange does the I/O for both, and metering reads the upstream's own words in both.
 */
export type ReplyRelay<Piece = Buffer> = {
  /** The framing of the upstream's stream. */
  readonly upstreamFraming: StreamFraming | undefined;
  /** The headers of the client's reply, made from the upstream's. */
  readonly replyHeaders: (headers: IncomingHttpHeaders) => Record<string, string>;
  /** How a good reply with these headers comes. Absent: as it was asked for, and whole where its type is that of JSON or of a page. */
  readonly shapeOf?: (headers: IncomingHttpHeaders) => 'whole' | 'stream' | 'bytes';
  /** Absent where no reply comes as bytes. */
  readonly bytes?: BytesRelay<Piece> | undefined;
  /** Reads the body of a whole reply. Absent: as JSON. @throws GatewayError for what is no reply */
  readonly parse?: (body: Buffer) => unknown;
  readonly readReply: (reply: unknown) => ReplyReport;
  /** What is known of a reply that has begun, before any of its body is read; absent where that is nothing. It is what a client is charged for that leaves then. */
  readonly begun?: () => ReplyReport;
  /** The body for the client. Called before the call is settled, once, for a reply that is no error. */
  readonly writeReply: (reply: unknown, bytes: Buffer, charged?: ChargedUsage) => Buffer;
  /** The same for a client that asked for a stream; absent where a whole reply cannot be made one. */
  readonly replay?: ((reply: unknown, bytes: Buffer, charged?: ChargedUsage) => readonly Piece[]) | undefined;
  /** The reply that was written, with what its client did not ask to see; absent where that is all that was written. */
  readonly wholeReply?: () => JsonObject | undefined;
  /**
   * What has to be done before the client may learn that its whole reply is there. Asked after it was written; never rejects. What it resolves with is sent in place of what was
   * written.
   */
  readonly kept?: () => Promise<WrittenReply<Piece> | void> | undefined;
  /**
   * @param limits what the stream may pile up: its `read` throws GatewayError beyond that
   * @param mayBeCut whether it may have to be ended before its time
   */
  readonly openStream: (limits: Pick<GatewayLimits, 'replyBytesMax'>, mayBeCut?: boolean, charged?: ChargedUsage) => StreamRelay<Piece>;
  /** The error to word for the client; undefined where the upstream's own answer goes on as it is. */
  readonly readError: (answer: ErrorAnswer) => GatewayError | undefined;
  /** Words any error answer by its very bytes. Absent: by `readError` where it is JSON, and by its status. */
  readonly readRefusal?: (answer: {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }) => GatewayError;
  /** The body to send in place of an upstream's error that is not worded anew; undefined, or absent, where it goes on as it is. */
  readonly editError?: ((status: number, body: JsonValue) => JsonObject | undefined) | undefined;
};

/** A reply without frames on its way. */
export type BytesRelay<Piece = Buffer> = {
  /** What is wrong with a reply that begins so, or with an empty one; undefined where nothing is. */
  readonly check: (first: Buffer | undefined, headers: IncomingHttpHeaders) => GatewayError | undefined;
  readonly pieceOf: (chunk: Buffer) => Piece;
};

/** One stream on its way. Pure and synchronous. */
export type StreamRelay<Piece = Buffer> = {
  /** What a frame of the upstream is to the client. */
  readonly read: (frame: Frame) => readonly Piece[];
  /** What it has kept back of the reply's opening, which is to wait for the content no longer; absent where it keeps none back. */
  readonly open?: () => readonly Piece[];
  /** The last of it for the client, when the upstream's body has ended as it should. `rest` is the white space after the last frame. */
  readonly end: (rest: Buffer) => readonly Piece[];
  readonly state: () => StreamReport['state'];
  /** Whether the upstream has begun with the reply itself; before, nothing needs to go to the client. */
  readonly hasContent: () => boolean;
  readonly report: () => StreamReport;
  /** Characters of content in what `read` gave, where that may be less than the upstream has said; absent: it is what the report counts. */
  readonly deliveredCharacters?: () => number;
  /** True when the client's reply has ended and the upstream's has not: nothing more is wanted of it. */
  readonly endedEarly: () => boolean;
  /** The reply so far, with what its client did not ask to see; absent where that is all that was written. */
  readonly wholeReply?: () => JsonObject | undefined;
  /** What has to be done before the client may learn that its reply has ended well. Asked once, when it has; never rejects. */
  readonly kept?: () => Promise<void> | undefined;
  /** What ends the client's reply as if its model had reached the bound of its output; only of a stream that may be cut. */
  readonly cut: (usage: Usage) => readonly Piece[];
  /** Hears that the reply has broken after its client saw it begin. */
  readonly broke?: (error: GatewayError) => void;
  /** Whether the end of the body is the end of the reply, because the upstream has no word for it. Absent: it never is. */
  readonly endsWithBody?: () => boolean;
  /** True when a `complete` state is the end of all that counts. */
  readonly hasEndMark: boolean;
  /** Whether what `read` gave for the upstream's error event tells the client of the failure. Otherwise the exchange words it. */
  readonly passesErrors: (headersSent: boolean) => boolean;
  /** Where the client's stream stands, for the error event that may have to end it. */
  readonly position: () => Pick<StreamReport, 'lastSequenceNumber' | 'partialResponse'> & { readonly framesSent: number };
};
