import type { ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import { foldEvents } from '../../../../inference/fold-events.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { addWarnings, requestIdHeader } from '../../../replies/write-reply.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';
import type { PieceWriter, ReplyForm } from '../reply-form.ts';
import { DeliveredOutput, describeBroken } from '../responses/keep-reply.ts';
import { encodeWhole } from '../translate/translate-relay.ts';

export type LoopReplyOptions<Piece> = {
  readonly dialect: ChatDialect;
  /** The form that the sink accepts. */
  readonly form: ReplyForm<Piece>;
  readonly sink: ReplySink<Piece>;
  /** Undefined if the client asked for a whole reply. */
  readonly framing: StreamFraming | undefined;
  readonly writing: ReplyWriting;
  /** Stores a reply that has ended, before the client receives its end. */
  readonly keep?: ((response: JsonObject) => Promise<void>) | undefined;
  readonly nowMs: () => number;
  /** Notes about the request from before the first round. */
  readonly notes?: readonly TranslationNote[];
};

/** The reply of a loop, for any form. */
export type AnyLoopReply = Pick<LoopReply<never>, keyof LoopReply<never>>;

/** The reply of all rounds together, written in the client's dialect as it arrives, or at its end. */
export class LoopReply<Piece> {
  readonly #options: LoopReplyOptions<Piece>;
  readonly #writer: PieceWriter<Piece> | undefined;
  /** Events that wait for content, so that an early failure is an HTTP status. In a whole reply, all events. */
  #held: InferenceEvent[] | undefined = [];
  readonly #notes: TranslationNote[];
  /** Notes that came after the headers. */
  readonly #late: TranslationNote[] = [];
  #headers: Readonly<Record<string, string>> = {};
  #lastWriteMs: number;
  /** The output that the client of a stored reply has received. */
  readonly #delivered = new DeliveredOutput();

  constructor(options: LoopReplyOptions<Piece>) {
    const { form, framing, writing } = options;
    this.#options = options;
    this.#notes = [...(options.notes ?? [])];
    this.#writer = framing === undefined ? undefined : form.createWriter(writing);
    this.#lastWriteMs = options.nowMs();
  }

  /** The headers of the first round's reply. */
  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
  }

  /**
   * Adds a note for the client: to the header, or to a trailer if the header was sent. False if the client already has
   * it.
   */
  note(note: TranslationNote): boolean {
    if (this.#notes.some(({ kind, field }) => kind === note.kind && field === note.field)) return false;
    this.#notes.push(note);
    if (this.#options.sink.hasBegun) this.#late.push(note);
    return true;
  }

  /** Characters of content that were passed to the client's connection. */
  get deliveredCharacters(): number {
    return this.#writer?.deliveredCharacters() ?? 0;
  }

  /** False if the client does not keep up. */
  push(events: readonly InferenceEvent[]): boolean {
    const { keep, form } = this.#options;
    const pieces = this.#encode(events);
    if (keep !== undefined) this.#delivered.add(form.eventsOf?.(pieces) ?? []);
    return this.#write(pieces);
  }

  #encode(events: readonly InferenceEvent[]): readonly Piece[] {
    if (this.#writer === undefined) {
      this.#held?.push(...events);
      return [];
    }
    const ready: InferenceEvent[] = [];
    for (const event of events) {
      if (this.#held === undefined) {
        ready.push(event);
        continue;
      }
      this.#held.push(event);
      if (event.type === 'started' || event.type === 'usage' || event.type === 'logprobs') continue;
      ready.push(...this.#held);
      this.#held = undefined;
    }
    return this.#writer.write(ready);
  }

  #write(pieces: readonly Piece[]): boolean {
    const { sink, nowMs } = this.#options;
    if (pieces.length === 0 || sink.isGone) return true;
    this.#begin();
    this.#lastWriteMs = nowMs();
    return sink.take(pieces);
  }

  #begin(): void {
    const { sink } = this.#options;
    if (!sink.hasBegun) sink.begin(this.#replyHeaders());
  }

  /** The first round was a stream, even if the client asked for a whole reply. */
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

  /** Sends a heartbeat to a waiting client. */
  beat(nowMs: number, heartbeatMs: number): void {
    const { sink, framing } = this.#options;
    if (framing === undefined || sink.isGone || nowMs - this.#lastWriteMs < heartbeatMs) return;
    this.#begin();
    this.#lastWriteMs = nowMs;
    sink.beat();
  }

  /** Ends the reply with its last events. Resolves when it is passed on. */
  async finish(events: readonly InferenceEvent[]): Promise<void> {
    const { dialect, sink, writing, keep } = this.#options;
    if (this.#writer === undefined) {
      const { reply: body, whole } = encodeWhole(dialect, foldEvents([...(this.#held ?? []), ...events]), writing);
      await keep?.(whole ?? body);
      return sink.answer(200, this.#replyHeaders(), Buffer.from(JSON.stringify(body)));
    }
    const pieces = this.#encode(events);
    const written = this.#writer.kept?.() ?? this.#writer.position().partialResponse;
    if (written !== undefined) await keep?.(written);
    if (sink.isGone) return;
    this.#begin();
    if (this.#late.length > 0) sink.setTrailers?.(addWarnings({}, this.#late));
    if (pieces.length > 0) sink.take(pieces);
    sink.end();
  }

  /** Ends the reply with an error: an HTTP status if nothing was written, otherwise the dialect's own last event. */
  fail(error: GatewayError): void {
    const { sink, framing, keep } = this.#options;
    if (sink.isGone) return;
    const position = this.#writer?.position() ?? { framesSent: 0 };
    const { partialResponse } = position;
    if (sink.hasBegun && framing !== undefined && partialResponse !== undefined)
      void keep?.(describeBroken(partialResponse, this.#delivered.items(), error));
    sink.fail(error, position);
  }
}

export function replyTooLarge(replyBytesMax: number): GatewayError {
  return new GatewayError('upstream_reply_too_large', `Upstream connection error: the reply is larger than ${replyBytesMax} characters.`);
}

export function internalError(callId: string): GatewayError {
  return new GatewayError('internal_error', `the gateway failed while it ran tools (${callId})`);
}
