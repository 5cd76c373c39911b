import { encodeEventFrame } from '../../../../platform/event-stream/encode-event-frame.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { countOf, membersOf } from '../../../../platform/json/json-readers.ts';
import { editMembers } from '../../../../platform/json/edit-members.ts';
import { applyJsonEdits } from '../../../../platform/json/json-edits.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../../platform/json/parse-if-json.ts';
import { createSseFrameReader } from '../../../../platform/sse/sse-frame-reader.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import { requestIdHeader } from '../../../replies/write-reply.ts';
import { readStreamException, toBedrockError } from './bedrock-errors.ts';

type Headers = Readonly<Record<string, string>>;

/** How the body is written: each event of a stream as a frame, and other answers when they are complete. */
type Body =
  | { readonly kind: 'stream' }
  | { readonly kind: 'whole'; readonly status: number; readonly headers: Headers; readonly parts: Buffer[] };

type Options = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Whether the reply is a count of tokens, which has another form. */
  readonly isCount: boolean;
  /**
   * The model as the client named it, under which replies name theirs. Claude Code sends the thoughts of a turn back
   * only if the turn has the name of the model that it calls, and the vendor refuses a tool loop without them.
   */
  readonly model: string;
};

/**
 * The reply of a chat of Messages, as Bedrock's clients read it: streams in binary frames, the usage of whole replies
 * in headers, and errors in the form of AWS. Towards the call it behaves as the connection behind it.
 */
export class BedrockReply implements ClientReply {
  readonly #client: ClientReply;
  readonly #options: Options;
  readonly #startedMs: number;
  /** Every part ends at the end of an event, whose size was limited when it was received. */
  readonly #reader = createSseFrameReader({ frameBytesMax: Number.MAX_SAFE_INTEGER });
  #body: Body | undefined;
  #usage: JsonObject = {};
  #firstMs: number | undefined;

  constructor(client: ClientReply, options: Options) {
    this.#client = client;
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
  }

  get headersSent(): boolean {
    return this.#body !== undefined || this.#client.headersSent;
  }

  get statusCode(): number {
    return this.#body?.kind === 'whole' ? this.#body.status : this.#client.statusCode;
  }

  get destroyed(): boolean {
    return this.#client.destroyed;
  }

  get writableEnded(): boolean {
    return this.#client.writableEnded;
  }

  get writableFinished(): boolean {
    return this.#client.writableFinished;
  }

  get shouldKeepAlive(): boolean {
    return this.#client.shouldKeepAlive;
  }

  set shouldKeepAlive(value: boolean) {
    this.#client.shouldKeepAlive = value;
  }

  writeHead(status: number, list: Headers | string[]): this {
    const headers = readHeaders(list);
    if (headers['content-type']?.startsWith('text/event-stream') !== true) {
      this.#body = { kind: 'whole', status, headers, parts: [] };
      return this;
    }
    this.#body = { kind: 'stream' };
    const { 'content-length': _ofEvents, ...others } = headers;
    this.#client.writeHead(status, {
      ...others,
      ...requestIdOf(headers),
      'content-type': 'application/vnd.amazon.eventstream',
      'x-amzn-bedrock-content-type': 'application/json',
    });
    return this;
  }

  flushHeaders(): void {
    if (this.#body?.kind === 'stream') this.#client.flushHeaders?.();
  }

  setHeader(name: string, value: string): this {
    this.#client.setHeader(name, value);
    return this;
  }

  write(bytes: Buffer): boolean {
    if (this.#body?.kind === 'whole') {
      this.#body.parts.push(bytes);
      return true;
    }
    const frames = this.#toFrames(bytes);
    return frames.length === 0 || this.#client.write(frames);
  }

  end(last?: Buffer | string, encoding: 'latin1' = 'latin1'): this {
    const bytes = typeof last === 'string' ? Buffer.from(last, encoding) : (last ?? Buffer.alloc(0));
    if (this.#body?.kind === 'whole') {
      this.#endWhole({ ...this.#body, parts: [...this.#body.parts, bytes] });
      return this;
    }
    const frames = this.#toFrames(bytes);
    if (frames.length === 0) this.#client.end();
    else this.#client.end(frames);
    return this;
  }

  on(event: 'close' | 'error', listener: (error?: Error) => void): this {
    this.#client.on(event, listener);
    return this;
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    this.#client.once(event, listener);
    return this;
  }

  addTrailers(headers: Headers): void {
    this.#client.addTrailers?.(headers);
  }

  setTimeout(ms: number, onTimeout: () => void): this {
    this.#client.setTimeout(ms, onTimeout);
    return this;
  }

  destroy(): this {
    this.#client.destroy();
    return this;
  }

  #endWhole({ status, headers, parts }: Extract<Body, { kind: 'whole' }>): void {
    const body = Buffer.concat(parts);
    const { status: sent, headers: named, body: bytes } = this.#convert(status, headers, body);
    const all = { ...named, ...requestIdOf(headers), 'content-length': String(bytes.length) };
    this.#client.writeHead(sent, all);
    this.#client.end(bytes);
  }

  #convert(status: number, headers: Headers, body: Buffer): Parameters<typeof toBedrockError>[0] {
    if (status >= 400) return toBedrockError({ status, headers, body });
    const reply = membersOf(parseIfJson(body));
    if (this.#options.isCount) return { status, headers, body: Buffer.from(JSON.stringify({ inputTokens: reply['input_tokens'] })) };
    const latency = { 'x-amzn-bedrock-invocation-latency': String(this.#elapsedMs()) };
    return { status, headers: { ...headers, ...latency, ...countHeaders(membersOf(reply['usage'])) }, body: this.#named(reply, body) };
  }

  /** A whole reply under the client's name of the model. */
  #named(reply: JsonObject, body: Buffer): Buffer {
    if (reply['model'] === undefined) return body;
    return applyJsonEdits(body, editMembers({ body: reply, bytes: body }, { set: { model: JSON.stringify(this.#options.model) } }));
  }

  #toFrames(bytes: Buffer): Buffer {
    return Buffer.concat(this.#reader.push(bytes).map((frame) => this.#toFrame(frame)));
  }

  #toFrame(event: StreamEvent): Buffer {
    if (event.data === '') return Buffer.alloc(0);
    this.#firstMs ??= this.#elapsedMs();
    if (event.event === 'error') {
      const { type, message } = readStreamException(event.data);
      const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
      return encodeEventFrame(headers, Buffer.from(JSON.stringify({ message })));
    }
    const payload = JSON.stringify({ bytes: Buffer.from(this.#complete(event)).toString('base64') });
    const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
    return encodeEventFrame(headers, Buffer.from(payload));
  }

  /**
   * The event. The first one has the client's name of the model, and the last one the usage of the reply, which clients
   * of Bedrock read there.
   */
  #complete(event: StreamEvent): string {
    const { event: type, data } = event;
    if (type === 'message_start') return this.#start(event);
    if (type === 'message_delta') this.#usage = { ...this.#usage, ...membersOf(event.object()?.['usage']) };
    if (type !== 'message_stop') return data;
    const metrics = {
      ...Object.fromEntries(countsOf(this.#usage).map(([{ metric }, count]) => [metric, count])),
      invocationLatency: this.#elapsedMs(),
      firstByteLatency: this.#firstMs,
    };
    return JSON.stringify({ ...event.object(), 'amazon-bedrock-invocationMetrics': metrics });
  }

  #start(event: StreamEvent): string {
    const message = membersOf(event.object()?.['message']);
    this.#usage = membersOf(message['usage']);
    if (message['model'] === undefined) return event.data;
    return JSON.stringify({ ...event.object(), message: { ...message, model: this.#options.model } });
  }

  #elapsedMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedMs);
  }
}

/** The counts of a reply: their names at the vendor, in the last event, and in a header. */
const reported = [
  { member: 'input_tokens', metric: 'inputTokenCount', header: 'x-amzn-bedrock-input-token-count' },
  { member: 'output_tokens', metric: 'outputTokenCount', header: 'x-amzn-bedrock-output-token-count' },
  { member: 'cache_read_input_tokens', metric: 'cacheReadInputTokenCount', header: 'x-amzn-bedrock-cache-read-input-token-count' },
  { member: 'cache_creation_input_tokens', metric: 'cacheWriteInputTokenCount', header: 'x-amzn-bedrock-cache-write-input-token-count' },
] as const;

function countsOf(usage: JsonObject): readonly (readonly [(typeof reported)[number], number])[] {
  return reported.flatMap((names) => {
    const count = countOf(usage[names.member]);
    return count === undefined ? [] : [[names, count] as const];
  });
}

function countHeaders(usage: JsonObject): Headers {
  return Object.fromEntries(countsOf(usage).map(([{ header }, count]) => [header, String(count)]));
}

/** The id of the call as AWS's clients read it, if the answer has one. */
function requestIdOf(headers: Headers): Headers {
  const id = headers[requestIdHeader] ?? headers['request-id'];
  return id === undefined ? {} : { 'x-amzn-requestid': id };
}

/** Headers of a head: a record, or names and values in turn. */
function readHeaders(list: Headers | readonly string[]): Record<string, string> {
  const pairs = isList(list)
    ? list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? ''] as const] : []))
    : Object.entries(list);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

function isList(list: Headers | readonly string[]): list is readonly string[] {
  return Array.isArray(list);
}
