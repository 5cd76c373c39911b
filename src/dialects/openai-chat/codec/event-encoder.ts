import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { EventEncoder, ReplyWriting } from '../../chat-codec.ts';
import { DeltaWriter } from './delta-writer.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeLogprobsReply } from './logprobs.ts';
import { encodeHead, encodeServiceTier } from './reply-head.ts';

const endMark = 'data: [DONE]\n\n';

/** Writes the chunks of a stream. The first chunk, with the role, waits for content. */
class ChunkWriter {
  readonly #writing: ReplyWriting;
  readonly #deltas: DeltaWriter;
  readonly #sendsUsage: boolean;
  /** The text of every chunk before and after its delta. */
  #before = '';
  #after = '';
  #hasRole = false;
  /** Log probabilities that no chunk has had yet. */
  #logprobs: readonly TokenLogprob[] = [];
  #report: UsageReport | undefined;
  #head: JsonObject = {};
  frames = 0;

  constructor(writing: ReplyWriting) {
    this.#writing = writing;
    this.#deltas = new DeltaWriter(writing);
    const options = writing.request.stream_options;
    this.#sendsUsage = isJsonObject(options) && options.include_usage === true;
    this.#setHead({});
  }

  write(event: InferenceEvent): string {
    if (event.type === 'started') this.#setHead(event);
    if (event.type === 'logprobs') this.#logprobs = [...this.#logprobs, ...event.tokens];
    if (event.type === 'usage') this.#report = event.usageReport;
    if (event.type === 'finished') return this.#finish(event);
    const delta = this.#deltas.write(event);
    return delta === undefined ? '' : this.#writeDelta(delta);
  }

  #setHead(started: { readonly replyId?: string; readonly servedModel?: string }): void {
    this.#head = encodeHead('chat.completion.chunk', this.#writing, started);
    this.#before = `data: ${JSON.stringify(this.#head).slice(0, -1)},"choices":[{"index":0,"delta":`;
    this.#after = `,"finish_reason":null}]${this.#sendsUsage ? ',"usage":null' : ''}}\n\n`;
  }

  #writeDelta(delta: JsonObject): string {
    // Content is null beside calls, as at the vendor, and otherwise an empty text that grows.
    const isCall = delta.tool_calls !== undefined || delta.function_call !== undefined;
    return this.#openRole(isCall ? null : '') + this.#writeChunk(JSON.stringify(delta), this.#takeLikely());
  }

  open(): string {
    return this.#openRole('');
  }

  #openRole(content: '' | null): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return this.#writeChunk(JSON.stringify({ role: 'assistant', content, refusal: null }));
  }

  #takeLikely(): JsonObject | null {
    const tokens = this.#logprobs;
    if (tokens.length > 0) this.#logprobs = [];
    return encodeLogprobsReply(tokens, this.#writing.request);
  }

  #writeChunk(delta: string, logprobs: JsonObject | null = null): string {
    this.frames++;
    return `${this.#before}${delta},"logprobs":${JSON.stringify(logprobs)}${this.#after}`;
  }

  #finish({ stopReason }: Extract<InferenceEvent, { type: 'finished' }>): string {
    const tail = this.#deltas.writeTail();
    const reason = this.#deltas.finishReason(stopReason);
    const content = (tail === undefined ? '' : this.#writeDelta(tail)) + this.#openRole('');
    const choice = { index: 0, delta: {}, logprobs: this.#takeLikely(), finish_reason: reason };
    return content + this.#writeObject({ choices: [choice], ...(this.#sendsUsage && { usage: null }) }) + this.#writeUsage() + this.#end();
  }

  /** Only for clients that requested it, and only if it is known. */
  #writeUsage(): string {
    return this.#sendsUsage && this.#report !== undefined ? this.#writeObject({ choices: [], usage: encodeUsage(this.#report.usage) }) : '';
  }

  #writeObject(members: JsonObject): string {
    this.frames++;
    return `data: ${JSON.stringify({ ...this.#head, ...encodeServiceTier(this.#report), ...members })}\n\n`;
  }

  #end(): string {
    this.frames++;
    return endMark;
  }
}

/**
 * Writes a stream of this dialect: deltas, the finish reason, the usage if the client requested it, and the end mark.
 */
export function createEventEncoder(writing: ReplyWriting): EventEncoder {
  const chunks = new ChunkWriter(writing);
  return {
    write: (event) => chunks.write(event),
    open: () => chunks.open(),
    position: () => ({ framesSent: chunks.frames }),
  };
}
