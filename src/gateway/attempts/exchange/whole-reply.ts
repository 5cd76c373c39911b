import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { readFilterRefusal } from '../../../dialects/content-filter.ts';
import { GatewayError, type GatewayErrorOptions } from '../../../inference/gateway-error.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonValue } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { Target } from '../routing/target.ts';
import type { AnyExchange, ExchangeContext, Outcome, ReplyIntake, UndeliveredFailure, UpstreamFlow } from './exchange-context.ts';
import { scrubBytes } from './pass-headers.ts';
import type { ChargedUsage, WrittenReply } from './reply-relay.ts';
import { asJson } from './reply-type.ts';
import { credentialRejected, describeErrorInReply, failUndelivered, upstreamTimeout } from './upstream-failure.ts';

/** The most chunks that are held before they are joined. */
const chunksMax = 4096;

const noChunks: readonly Buffer[] = [];

/**
 * Collects a body within its limits of size and silence. Nothing is sent before the body is whole, so that every
 * failure is still an HTTP status.
 */
abstract class CollectedReply<Context extends AnyExchange> implements ReplyIntake {
  protected readonly context: Context;
  protected readonly flow: UpstreamFlow;
  /** Joined chunks, and those that came after them. Most replies have one chunk. */
  #joined: Buffer[] | undefined;
  #chunks: Buffer[] | undefined;
  #length = 0;
  #lastDataMs: number;

  constructor(context: Context, flow: UpstreamFlow) {
    this.context = context;
    this.flow = flow;
    this.#lastDataMs = context.clock.monotonicMs();
  }

  protected abstract get bytesMax(): number;
  /** The client's message for a larger body. */
  protected abstract get tooLarge(): string;
  /** Called once with the whole body. It settles and answers the call, or calls `fail`. */
  protected abstract complete(body: Buffer): void;
  abstract fail(error: GatewayError): void;
  abstract clientLeft(drains?: boolean): void;

  data(chunk: Buffer): void {
    this.#lastDataMs = this.context.clock.monotonicMs();
    this.#length += chunk.length;
    if (this.#chunks === undefined) this.#chunks = [chunk];
    else if (this.#chunks.push(chunk) === chunksMax) this.#joinChunks(this.#chunks);
    if (this.#length <= this.bytesMax) return;
    this.flow.stop();
    this.fail(new GatewayError('upstream_reply_too_large', this.tooLarge));
  }

  /** A chunk of one byte needs as much memory as one of two hundred. */
  #joinChunks(chunks: readonly Buffer[]): void {
    this.#joined ??= [];
    this.#joined.push(Buffer.concat(chunks));
    this.#chunks = undefined;
  }

  end(): void {
    this.complete(this.#joinAll());
  }

  #joinAll(): Buffer {
    const { [0]: first, length } = this.#chunks ?? noChunks;
    if (first !== undefined && length === 1 && this.#joined === undefined) return first;
    return Buffer.concat([...(this.#joined ?? noChunks), ...(this.#chunks ?? noChunks)], this.#length);
  }

  check(nowMs: number): void {
    const { target, timeouts } = this.context;
    if (nowMs - this.#lastDataMs < timeouts.idleMs) return;
    this.flow.stop();
    this.fail(upstreamTimeout(target, 'more of the reply', timeouts.idleMs));
  }
}

/** A parser may ignore a byte order mark (RFC 8259, section 8.1). The bytes are passed on with it. */
function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/**
 * The function by which a relay learns the charge of its reply if it ends this way. Undefined for calls that cost
 * nothing.
 */
export function chargedUsage({ observer }: Pick<ExchangeContext, 'observer'>, end: Outcome['end']): ChargedUsage | undefined {
  const { meter } = observer;
  return meter === undefined ? undefined : (report, complete) => meter({ end, complete, report });
}

/** Writes a reply as the requested stream, or whole. */
function writeReply<Piece>(context: ExchangeContext<Piece>, reply: unknown, body: Buffer): WrittenReply<Piece> {
  const { relay, framing } = context;
  const charged = chargedUsage(context, 'finished');
  if (framing !== undefined && relay.replay !== undefined) return relay.replay(reply, body, charged);
  return relay.writeReply(reply, body, charged);
}

/**
 * Collects a whole reply, reads its usage and passes it on by its relay: byte for byte, or translated. Nothing is sent
 * before it is whole, so that every failure is still an HTTP status.
 */
export class WholeReply<Piece> extends CollectedReply<ExchangeContext<Piece>> {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #expected: boolean;
  /** Set while it is read after its client disconnected. */
  #drains = false;

  /**
   * @param expected false if a stream was requested, the upstream answered differently and the relay cannot make a
   * stream of it: then the reply can only be an error
   */
  constructor(context: ExchangeContext<Piece>, flow: UpstreamFlow, headers: Readonly<Record<string, string>>, expected: boolean) {
    super(context, flow);
    this.#headers = headers;
    this.#expected = expected;
  }

  protected override get bytesMax(): number {
    return this.context.limits.replyBytesMax;
  }

  protected override get tooLarge(): string {
    return `the reply is larger than ${this.bytesMax} bytes; ask for a stream`;
  }

  protected override complete(body: Buffer): void {
    const { relay, target } = this.context;
    let reply: unknown;
    try {
      reply = relay.parse === undefined ? parseJson(withoutByteOrderMark(body)) : relay.parse(body);
    } catch (cause) {
      return this.fail(cause instanceof GatewayError ? cause : this.#invalid(body, cause));
    }
    const report = relay.readReply(reply);
    if (report.error !== undefined) return this.fail(describeErrorInReply(report.error, target));
    if (!this.#expected) return this.fail(this.#invalid(body));
    // Written before the call is settled, so that a failure here does not settle it twice.
    const written = writeReply(this.context, reply, body);
    const storing = relay.kept?.();
    if (storing === undefined) this.#settle(report, written);
    else void storing.then((instead) => this.#settle(report, instead ?? written));
  }

  #settle(report: ReplyReport, written: WrittenReply<Piece>): void {
    const { observer, sink, relay } = this.context;
    observer.firstContent();
    observer.settled({ end: 'finished', complete: true, report }, () => {
      // A relay that parses itself may write text, and names its type.
      if (Buffer.isBuffer(written)) sink.answer(200, relay.parse === undefined ? asJson(this.#headers) : this.#headers, written);
      else sink.takeWhole(this.#headers, written);
    });
  }

  #invalid({ length }: Buffer, cause?: unknown): GatewayError {
    const type = this.#headers['content-type'] ?? 'no content type';
    const message = `Upstream connection error: the model service answered with ${length} bytes of ${type} that are not a reply of this interface.`;
    return new GatewayError('upstream_invalid_reply', message, { internal: this.context.target.upstream.id, cause });
  }

  override fail(own: GatewayError): void {
    if (this.#drains) this.clientLeft();
    else failUndelivered(this.context, own);
  }

  override clientLeft(drains = false): void {
    const { observer, leaving, relay } = this.context;
    observer.left?.({ policy: leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    this.#drains = drains;
    if (drains) return;
    this.flow.stop();
    observer.settled({ end: 'client-left', complete: false, ...(relay.begun !== undefined && { report: relay.begun() }) });
  }
}

/** The parsed body. Undefined if it is not JSON; then its length and type are reported. */
function parseIfJson(body: Buffer): JsonValue | undefined {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

/** The body with the members that the documented interface adds, in documented mode. */
function editBody({ relay }: AnyExchange, status: number, parsed: JsonValue): Buffer | undefined {
  const edited = relay.editError?.(status, parsed);
  return edited === undefined ? undefined : Buffer.from(JSON.stringify(edited));
}

/** The head of an upstream's error answer. */
export type ErrorAnswer = {
  readonly status: number;
  /** The headers for the client. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers from the upstream. */
  readonly received: ReplyHeaders;
};

/**
 * Collects an upstream's error answer and passes it on with its status, the headers that may pass, and its body. Two
 * kinds are reworded: a refusal of the gateway's own credential, which the client cannot fix, and bodies that no SDK
 * can read.
 */
export class ErrorReply extends CollectedReply<AnyExchange> {
  readonly #answer: ErrorAnswer;

  constructor(context: AnyExchange, flow: UpstreamFlow, answer: ErrorAnswer) {
    super(context, flow);
    this.#answer = answer;
  }

  protected override get bytesMax(): number {
    return this.context.limits.errorBytesMax;
  }

  protected override get tooLarge(): string {
    return `the model service's error answer is larger than ${this.bytesMax} bytes`;
  }

  protected override complete(raw: Buffer): void {
    const { target, observer, sink, relay } = this.context;
    const { status, headers, received } = this.#answer;
    const worded = relay.readRefusal?.({ status, headers: received, body: raw });
    if (worded !== undefined) return this.fail(worded);
    const body = scrubBytes(raw, target.upstream.apiKey);
    const parsed = parseIfJson(body);
    const next = adviseOperator(target, status, parsed);
    if (status === 401 || status === 407)
      return this.fail(credentialRejected(target, `answered ${status}${next === undefined ? '' : `: ${next}`}`));
    const advice = { status: Math.max(status, 400), headers: retryAdvice(headers) };
    if (status < 400 || parsed === undefined) {
      const type = String(received['content-type'] ?? headers['content-type'] ?? 'no content type').slice(0, 100);
      const message = `Upstream connection error: the model service answered ${status} with ${raw.length} bytes of ${type}.`;
      return this.fail(new GatewayError('upstream_error', message, { ...advice, ...(status < 400 ? { status: 502 } : {}) }));
    }
    const reworded = relay.readError({ status, headers, body: parsed });
    if (reworded !== undefined) return this.fail(reworded);
    const own = describeRefusal(parsed, status, next === undefined ? advice : { ...advice, internal: next });
    const answer = (instead?: GatewayError): void => {
      const error = instead ?? own;
      observer.settled({ end: 'failed', complete: false, error });
      if (instead === undefined && !sink.hasBegun) sink.answer(status, asJson(headers), editBody(this.context, status, parsed) ?? body);
      else sink.fail(error);
    };
    if (!this.context.handOver({ error: own, ...this.#refusal, upstreamWords: wordsOf(parsed), answer })) answer();
  }

  /** The facts about the answer that another attempt needs. */
  get #refusal(): Pick<UndeliveredFailure, 'upstreamStatus' | 'headers'> {
    return { upstreamStatus: this.#answer.status, headers: this.#answer.received };
  }

  override fail(own: GatewayError): void {
    failUndelivered(this.context, own, this.#refusal);
  }

  /** An error contains no usage, so it is not read to its end. */
  override clientLeft(): void {
    const { observer, leaving } = this.context;
    observer.left?.({ policy: leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    this.flow.stop();
    observer.settled({ end: 'failed', complete: false });
  }
}

/** What the operator should do about an error answer, if the vendor knows it. */
function adviseOperator({ upstream, upstreamModel: model }: Target, status: number, body: JsonValue | undefined): string | undefined {
  const { code, message } = membersOf(membersOf(body).error);
  const refusal = { status, code: textOf(code), message: textOf(message) ?? '', model, hasKey: upstream.apiKey !== undefined };
  return upstream.vendor.adviseOperator?.(refusal, upstream.facts);
}

/** The error of an answer whose body is passed on. The client does not see it, but the books and the retries do. */
function describeRefusal(parsed: JsonValue, status: number, advice: GatewayErrorOptions): GatewayError {
  const found = readFilterRefusal(parsed);
  const message = `the model service answered ${status}`;
  if (found === undefined) return new GatewayError('upstream_error', message, advice);
  return new GatewayError('upstream_content_filtered', message, {
    ...advice,
    internal: `its content filter refused the request (${found})`,
  });
}

/** Code and message of an error body. All dialects have the same form except one, in which these do not matter. */
function wordsOf(body: JsonValue): string {
  const { code, message } = membersOf(membersOf(body).error);
  return `${textOf(code) ?? ''} ${textOf(message) ?? ''}`.slice(0, 1000);
}

function retryAdvice(headers: Readonly<Record<string, string>>): Record<string, string> {
  const advice: Record<string, string> = {};
  for (const name of ['retry-after', 'retry-after-ms', 'x-should-retry']) {
    const value = headers[name];
    if (value !== undefined) advice[name] = value;
  }
  return advice;
}
