import type { EventEncoder, ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import { foldEvents } from '../../../../inference/fold-events.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import { DeliveredCount } from '../../../attempts/disconnect/delivered-count.ts';
import { requestIdHeader } from '../../../replies/reply-headers.ts';
import { encodeWhole } from '../translate/encode-whole.ts';
import { addWarnings } from '../../../replies/warning-header.ts';
import { describeBroken, ToldOutput } from '../responses/broken-reply.ts';
import { writeError, writeReply } from '../../../replies/write-reply.ts';

export type LoopReplyOptions = {
  readonly dialect: ChatDialect;
  readonly response: ClientReply;
  /** Absent where the client wants a whole reply. */
  readonly framing: StreamFraming | undefined;
  readonly writing: ReplyWriting;
  /** Keeps a reply that has ended, before the client learns of its end. */
  readonly keep?: ((response: JsonObject) => Promise<void>) | undefined;
  readonly nowMs: () => number;
  /** What was done to the request before the first round. */
  readonly notes?: readonly TranslationNote[];
};

/** The reply of all rounds together, written in the client's dialect as it comes, or at its end. */
export class LoopReply {
  readonly #options: LoopReplyOptions;
  readonly #encoder: EventEncoder | undefined;
  /** What waits for content, so that an early failure is an HTTP status; in a whole reply, everything. */
  #held: InferenceEvent[] | undefined = [];
  readonly #notes: TranslationNote[];
  /** Notes that came after the headers. */
  readonly #late: TranslationNote[] = [];
  #headers: Readonly<Record<string, string>> = {};
  #lastWriteMs: number;
  readonly #delivered = new DeliveredCount();
  /** What a client of a reply that is kept was told. */
  readonly #told = new ToldOutput();

  constructor(options: LoopReplyOptions) {
    const { dialect, framing, writing } = options;
    this.#options = options;
    this.#notes = [...(options.notes ?? [])];
    this.#encoder = framing === undefined ? undefined : dialect.codec.createEventEncoder(writing, framing);
    this.#lastWriteMs = options.nowMs();
  }

  /** The headers of the first round's reply. */
  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
  }

  /** Adds to what the client is told: in the header, and where that has been sent, in a trailer. False where it is known already. */
  note(note: TranslationNote): boolean {
    if (this.#notes.some(({ kind, field }) => kind === note.kind && field === note.field)) return false;
    this.#notes.push(note);
    if (this.#options.response.headersSent) this.#late.push(note);
    return true;
  }

  /** Characters of content that have been handed to the client's connection. */
  get deliveredCharacters(): number {
    return this.#delivered.characters;
  }

  /** False when the client does not keep up. */
  push(events: readonly InferenceEvent[]): boolean {
    const text = this.#encode(events);
    if (this.#options.keep !== undefined) this.#told.add(Buffer.from(text));
    return text === '' || this.#write(Buffer.from(text));
  }

  #encode(events: readonly InferenceEvent[]): string {
    const encoder = this.#encoder;
    if (encoder === undefined) {
      this.#held?.push(...events);
      return '';
    }
    let text = '';
    for (const event of events) {
      if (this.#held !== undefined) {
        this.#held.push(event);
        if (event.type === 'started' || event.type === 'usage' || event.type === 'logprobs') continue;
        for (const held of this.#held) text += this.#delivered.encode(encoder, held);
        this.#held = undefined;
      } else text += this.#delivered.encode(encoder, event);
    }
    return text;
  }

  #write(bytes: Buffer): boolean {
    const { response, nowMs } = this.#options;
    if (response.destroyed || response.writableEnded) return true;
    this.#writeHead();
    this.#lastWriteMs = nowMs();
    return response.write(bytes);
  }

  #writeHead(): void {
    const { response } = this.#options;
    if (!response.headersSent) response.writeHead(200, this.#replyHeaders());
  }

  /** The first round was a stream, whatever the client wants. */
  #replyHeaders(): Record<string, string> {
    const { framing, writing } = this.#options;
    const { 'cache-control': _control, ...headers } = addWarnings(this.#headers, this.#notes);
    const isSse = framing === 'sse';
    return {
      [requestIdHeader]: writing.requestId,
      ...headers,
      'content-type': isSse ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8',
      ...(isSse ? { 'cache-control': 'no-cache' } : {}),
    };
  }

  /** Tells a client that waits that its call goes on. */
  beat(nowMs: number, heartbeatMs: number): void {
    const { dialect, framing } = this.#options;
    if (framing !== undefined && nowMs - this.#lastWriteMs >= heartbeatMs) this.#write(dialect.voice.heartbeat(framing));
  }

  /** Ends the reply with its last events. Resolves when it is handed over. */
  async finish(events: readonly InferenceEvent[]): Promise<void> {
    const { dialect, response, writing, keep } = this.#options;
    if (this.#encoder === undefined) {
      const { reply: body, whole } = encodeWhole(dialect, foldEvents([...(this.#held ?? []), ...events]), writing);
      await keep?.(whole ?? body);
      return writeReply(response, 200, this.#replyHeaders(), Buffer.from(JSON.stringify(body)));
    }
    const text = this.#encode(events);
    const written = this.#encoder.kept?.() ?? this.#encoder.position().partialResponse;
    if (written !== undefined) await keep?.(written);
    if (response.destroyed || response.writableEnded) return;
    this.#writeHead();
    if (this.#late.length > 0) response.addTrailers?.(addWarnings({}, this.#late));
    response.end(Buffer.from(text));
  }

  /** Ends the reply with an error: a status where nothing was written, else the dialect's own last event. */
  fail(error: GatewayError): void {
    const { dialect, response, framing, writing, keep } = this.#options;
    const { requestId } = writing;
    if (response.destroyed || response.writableEnded) return;
    if (!response.headersSent || framing === undefined) return writeError(response, dialect.voice, error, requestId, framing);
    const position = this.#encoder?.position() ?? { framesSent: 0 };
    const { partialResponse } = position;
    if (partialResponse !== undefined) void keep?.(describeBroken(dialect.voice, partialResponse, this.#told.items(), error));
    response.end(dialect.voice.encodeStreamError(error, { ...position, framing, requestId }));
  }
}
