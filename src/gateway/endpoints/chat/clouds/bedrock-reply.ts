import type { Clock } from '../../../../platform/clock.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { membersOf } from '../../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../../platform/json/parse-if-json.ts';
import { createSseFrameReader } from '../../../../platform/sse/sse-frame-reader.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import { addWarnings, requestIdHeader } from '../../../replies/write-reply.ts';
import { encodeBedrockException } from './bedrock-events.ts';
import { readStreamException, toBedrockError } from './bedrock-errors.ts';
import type { BedrockForm } from './bedrock-form.ts';

type Headers = Readonly<Record<string, string>>;

/** How the body is written: each event of a stream as a frame, and other answers when they are complete. */
type Body =
  | { readonly kind: 'stream' }
  | { readonly kind: 'whole'; readonly status: number; readonly headers: Headers; readonly parts: Buffer[] };

type Options = { readonly clock: Pick<Clock, 'monotonicMs'>; readonly form: BedrockForm };

/**
 * The reply of a chat of Messages, as Bedrock's clients read it: streams in binary frames, replies in the form of
 * the method, and errors in the form of AWS. Towards the call it behaves as the connection behind it.
 */
export class BedrockReply implements ClientReply {
  readonly #client: ClientReply;
  readonly #options: Options;
  readonly #startedMs: number;
  /** Every part ends at the end of an event, whose size was limited when it was received. */
  readonly #reader = createSseFrameReader({ frameBytesMax: Number.MAX_SAFE_INTEGER });
  #body: Body | undefined;

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
    const { form } = this.#options;
    const headers = addWarnings(readHeaders(list), form.notes());
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
      ...form.streamHeaders,
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
    const { form } = this.#options;
    if (status >= 400) return toBedrockError({ status, headers, body }, form.wordError);
    const { headers: more = {}, body: written } = form.encodeReply(membersOf(parseIfJson(body)), body, this.#elapsedMs());
    return { status, headers: { ...headers, ...more }, body: written };
  }

  #toFrames(bytes: Buffer): Buffer {
    return Buffer.concat(this.#reader.push(bytes).map((frame) => this.#toFrame(frame)));
  }

  #toFrame(event: StreamEvent): Buffer {
    const { form } = this.#options;
    if (event.data === '') return Buffer.alloc(0);
    if (event.event !== 'error') return form.encodeEvent(event, this.#elapsedMs());
    const { type, message } = readStreamException(event.data);
    return encodeBedrockException(form.exceptionOf(type), form.wordError(message));
  }

  #elapsedMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedMs);
  }
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
