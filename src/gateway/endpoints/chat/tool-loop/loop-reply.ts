import type { ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import { foldEvents } from '../../../../inference/fold-events.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { addWarnings, requestIdHeader } from '../../../replies/write-reply.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';
import type { PieceWriter, ReplyForm } from '../reply-form.ts';
import { describeBroken, DeliveredOutput } from '../responses/keep-reply.ts';
import { encodeWhole } from '../translate/translate-relay.ts';

export type LoopReplyOptions<Piece> = {
  readonly dialect: ChatDialect;
  /** What the sink takes. */
  readonly form: ReplyForm<Piece>;
  readonly sink: ReplySink<Piece>;
  /** Absent where the client wants a whole reply. */
  readonly framing: StreamFraming | undefined;
  readonly writing: ReplyWriting;
  /** Keeps a reply that has ended, before the client learns of its end. */
  readonly keep?: ((response: JsonObject) => Promise<void>) | undefined;
  readonly nowMs: () => number;
  /** What was done to the request before the first round. */
  readonly notes?: readonly TranslationNote[];
};

/** The reply of a loop, whatever its client takes. */
export type AnyLoopReply = Pick<LoopReply<never>, keyof LoopReply<never>>;

/** The reply of all rounds together, written in the client's dialect as it comes, or at its end. */
export class LoopReply<Piece> {
  readonly #options: LoopReplyOptions<Piece>;
  readonly #writer: PieceWriter<Piece> | undefined;
  /** What waits for content, so that an early failure is an HTTP status; in a whole reply, everything. */
  #held: InferenceEvent[] | undefined = [];
  readonly #notes: TranslationNote[];
  /** Notes that came after the headers. */
  readonly #late: TranslationNote[] = [];
  #headers: Readonly<Record<string, string>> = {};
  #lastWriteMs: number;
  /** What a client of a reply that is kept was told. */
  readonly #told = new DeliveredOutput();

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
   * Adds to what the client is told: in the header, and where that has been sent, in a trailer. False where it is known
   * already.
   */
  note(note: TranslationNote): boolean {
    if (this.#notes.some(({ kind, field }) => kind === note.kind && field === note.field)) return false;
    this.#notes.push(note);
    if (this.#options.sink.hasBegun) this.#late.push(note);
    return true;
  }

  /** Characters of content that have been handed to the client's connection. */
  get deliveredCharacters(): number {
    return this.#writer?.deliveredCharacters() ?? 0;
  }

  /** False when the client does not keep up. */
  push(events: readonly InferenceEvent[]): boolean {
    const { keep, form } = this.#options;
    const pieces = this.#encode(events);
    if (keep !== undefined) this.#told.add(form.eventsOf?.(pieces) ?? []);
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
    const { sink, framing } = this.#options;
    if (framing === undefined || sink.isGone || nowMs - this.#lastWriteMs < heartbeatMs) return;
    this.#begin();
    this.#lastWriteMs = nowMs;
    sink.beat();
  }

  /** Ends the reply with its last events. Resolves when it is handed over. */
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

  /** Ends the reply with an error: a status where nothing was written, else the dialect's own last event. */
  fail(error: GatewayError): void {
    const { sink, framing, keep } = this.#options;
    if (sink.isGone) return;
    const position = this.#writer?.position() ?? { framesSent: 0 };
    const { partialResponse } = position;
    if (sink.hasBegun && framing !== undefined && partialResponse !== undefined)
      void keep?.(describeBroken(partialResponse, this.#told.items(), error));
    sink.fail(error, position);
  }
}
