import type { StreamPosition } from '../../dialects/chat-codec.ts';
import type { DialectEvents } from '../../dialects/chat-dialect.ts';
import type { ErrorVoice } from '../../dialects/error-voice.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import { Frame, type StreamEvent, type StreamFraming } from '../../platform/frames.ts';
import { formatSse } from '../../platform/sse/encode-sse.ts';
import type { ClientReply } from './client-reply.ts';
import type { ReplySink } from './reply-sink.ts';
import { writeError, writeReply } from './write-reply.ts';

/** The parts of a call that its reply is written with. */
export type AnsweredCall = {
  readonly callId: string;
  readonly response: ClientReply;
  /** Words errors for its interface. */
  readonly voice: ErrorVoice;
  /** Framing of the reply if a stream was requested. */
  readonly framing: StreamFraming | undefined;
};

/** Converts the pieces of a reply to bytes. */
type Framing<Piece> = { readonly join: (pieces: readonly Piece[]) => Buffer; readonly sizeOf: (piece: Piece) => number };

/** A client's connection as the sink of its reply. */
export class ConnectionSink<Piece> implements ReplySink<Piece> {
  readonly sizeOf: (piece: Piece) => number;
  readonly #join: (pieces: readonly Piece[]) => Buffer;
  readonly #call: AnsweredCall;
  readonly #reply: ClientReply;

  constructor(call: AnsweredCall, { join, sizeOf }: Framing<Piece>) {
    this.sizeOf = sizeOf;
    this.#join = join;
    this.#call = call;
    this.#reply = call.response;
  }

  get hasBegun(): boolean {
    return this.#reply.headersSent;
  }

  get isGone(): boolean {
    return this.#reply.destroyed;
  }

  get isDelivered(): boolean {
    return this.#reply.writableFinished;
  }

  setHeader(name: string, value: string): void {
    this.#reply.setHeader(name, value);
  }

  begin(headers: Readonly<Record<string, string>>): void {
    if (!this.#reply.destroyed) this.#reply.writeHead(200, headers);
  }

  flush(): void {
    this.#reply.flushHeaders?.();
  }

  take(pieces: readonly Piece[]): boolean {
    return this.#reply.destroyed || this.#reply.write(this.#join(pieces));
  }

  setTrailers(headers: Readonly<Record<string, string>>): void {
    this.#reply.addTrailers?.(headers);
  }

  beat(): void {
    const { voice, framing } = this.#call;
    if (framing !== undefined && !this.#reply.destroyed) this.#reply.write(voice.heartbeat(framing));
  }

  end(): void {
    this.#reply.end();
  }

  takeWhole(headers: Readonly<Record<string, string>>, pieces: readonly Piece[]): void {
    const body = this.#join(pieces);
    // Heartbeats of an earlier attempt may already have sent the head.
    if (!this.#reply.headersSent) writeReply(this.#reply, 200, headers, body);
    else if (!this.#reply.destroyed) this.#reply.end(body);
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    writeReply(this.#reply, status, headers, body);
  }

  fail(error: GatewayError, position: StreamPosition = { framesSent: 0 }): void {
    const { voice, callId: requestId, framing } = this.#call;
    const reply = this.#reply;
    if (!reply.headersSent || framing === undefined) return writeError(reply, voice, error, requestId, framing);
    if (!reply.destroyed && !reply.writableEnded) reply.end(voice.encodeStreamError(error, { ...position, framing, requestId }));
  }

  destroy(): void {
    this.#reply.destroy();
  }

  onRoom(listener: () => void): void {
    this.#reply.once('drain', listener);
  }

  onClose(listener: () => void): void {
    this.#reply.on('close', listener);
  }

  /** The socket's time limit restarts whenever bytes leave, so it does not end slow readers. */
  limitReader(stalledMs: number): void {
    this.#reply.setTimeout(stalledMs, () => this.#reply.destroy());
  }
}

const ofBytes = { join: joinBytes, sizeOf: ({ length }: Buffer): number => length };

/** A client's connection as the sink of a reply in bytes. */
export function createByteSink(call: AnsweredCall): ConnectionSink<Buffer> {
  return new ConnectionSink(call, ofBytes);
}

function joinBytes(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
}

/** Converts events to bytes. */
const ofEvents = { join: joinEvents, sizeOf: sizeOfEvent };

/** A client's connection as the sink of events. Frames of an upstream pass byte for byte. */
export function createEventSink(call: AnsweredCall): ConnectionSink<StreamEvent> {
  return new ConnectionSink(call, ofEvents);
}

function sizeOfEvent(event: StreamEvent): number {
  return event instanceof Frame ? event.bytes.length : event.data.length;
}

function joinEvents(events: readonly StreamEvent[]): Buffer {
  const [only] = events;
  if (events.length === 1 && only instanceof Frame) return only.bytes;
  if (events.some((event) => event instanceof Frame))
    return Buffer.concat(events.map((event) => (event instanceof Frame ? event.bytes : Buffer.from(formatSse(event)))));
  return Buffer.from(events.map(formatSse).join(''));
}

export type MessagedCall = AnsweredCall & {
  readonly takeEvents: NonNullable<ClientReply['takeEvents']>;
  readonly events: Pick<DialectEvents, 'describeError'>;
};

/**
 * The sink of a stream whose reader takes events one by one and needs no heartbeats. Answers that are not streams are
 * bytes here too.
 */
export class MessageSink extends ConnectionSink<StreamEvent> {
  readonly #call: MessagedCall;

  constructor(call: MessagedCall) {
    super(call, ofEvents);
    this.#call = call;
  }

  override take(events: readonly StreamEvent[]): boolean {
    return this.isGone || this.#call.takeEvents(events);
  }

  override beat(): void {}

  override takeWhole(headers: Readonly<Record<string, string>>, events: readonly StreamEvent[]): void {
    if (this.isGone) return;
    if (!this.hasBegun) this.begin(headers);
    this.take(events);
    this.end();
  }

  override fail(error: GatewayError, position: StreamPosition = { framesSent: 0 }): void {
    if (!this.hasBegun) return super.fail(error, position);
    this.take(this.#call.events.describeError(error, position));
    this.end();
  }
}
