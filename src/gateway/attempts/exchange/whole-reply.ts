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
import { credentialRejected, describeErrorInReply, failUndelivered, upstreamTimeout } from './upstream-failure.ts';

type CollectOptions = {
  readonly bytesMax: number;
  /** The client's message for a larger body. */
  readonly tooLarge: string;
  /** How the call ends if the client disconnects before the body is whole. */
  readonly endWhenLeft: Outcome['end'];
  /** The report of the reply at that time. */
  readonly begun?: (() => ReplyReport) | undefined;
  /** The facts about the answer that another attempt needs. */
  readonly refusal?: Pick<UndeliveredFailure, 'upstreamStatus' | 'headers'>;
  /** Called once with the whole body. It settles and answers the call, or calls `fail`. */
  readonly complete: (body: Buffer, fail: (error: GatewayError) => void) => void;
};

/** The most chunks that are held before they are joined. */
const chunksMax = 4096;

/**
 * Collects a body within its limits of size and silence. Nothing is sent before the body is whole, so that every
 * failure is still an HTTP status.
 */
class CollectedReply implements ReplyIntake {
  readonly #context: AnyExchange;
  readonly #flow: UpstreamFlow;
  readonly #options: CollectOptions;
  /** Joined chunks, and those that came after them. */
  readonly #joined: Buffer[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  #lastDataMs: number;
  /** Set while it is read after its client disconnected. */
  #drains = false;

  constructor(context: AnyExchange, flow: UpstreamFlow, options: CollectOptions) {
    this.#context = context;
    this.#flow = flow;
    this.#options = options;
    this.#lastDataMs = context.clock.monotonicMs();
  }

  data(chunk: Buffer): void {
    this.#lastDataMs = this.#context.clock.monotonicMs();
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#chunks.length === chunksMax) this.#joinChunks();
    if (this.#length <= this.#options.bytesMax) return;
    this.#flow.stop();
    this.fail(new GatewayError('upstream_reply_too_large', this.#options.tooLarge));
  }

  /** A chunk of one byte needs as much memory as one of two hundred. */
  #joinChunks(): void {
    this.#joined.push(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  end(): void {
    const pieces = this.#joined.length === 0 ? this.#chunks : [...this.#joined, ...this.#chunks];
    const [only] = pieces;
    const body = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, this.#length);
    this.#options.complete(body, (error) => this.fail(error));
  }

  fail(own: GatewayError): void {
    if (this.#drains) return this.clientLeft();
    failUndelivered(this.#context, own, this.#options.refusal);
  }

  clientLeft(drains = false): void {
    const { observer, leaving } = this.#context;
    const { endWhenLeft, begun } = this.#options;
    observer.left?.({ policy: leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    // An error contains no usage, so it is not read to its end.
    this.#drains = drains && endWhenLeft === 'client-left';
    if (this.#drains) return;
    this.#flow.stop();
    observer.settled({ end: endWhenLeft, complete: false, ...(begun !== undefined && { report: begun() }) });
  }

  check(nowMs: number): void {
    const { target, timeouts } = this.#context;
    if (nowMs - this.#lastDataMs < timeouts.idleMs) return;
    this.#flow.stop();
    this.fail(upstreamTimeout(target, 'more of the reply', timeouts.idleMs));
  }
}

function invalidReply(context: AnyExchange, headers: Readonly<Record<string, string>>, length: number, cause?: unknown): GatewayError {
  const type = headers['content-type'] ?? 'no content type';
  const message = `Upstream connection error: the model service answered with ${length} bytes of ${type} that are not a reply of this interface.`;
  return new GatewayError('upstream_invalid_reply', message, { internal: context.target.upstream.id, cause });
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
 * @param expected false if a stream was requested, the upstream answered differently and the relay cannot make a stream
 * of it: then the reply can only be an error
 */
export function createWholeReply<Piece>(
  context: ExchangeContext<Piece>,
  flow: UpstreamFlow,
  headers: Readonly<Record<string, string>>,
  expected: boolean,
): ReplyIntake {
  const { limits, observer, relay, target, sink } = context;
  const complete = (body: Buffer, fail: (error: GatewayError) => void): void => {
    let reply: unknown;
    try {
      reply = relay.parse === undefined ? parseJson(withoutByteOrderMark(body)) : relay.parse(body);
    } catch (cause) {
      return fail(cause instanceof GatewayError ? cause : invalidReply(context, headers, body.length, cause));
    }
    const report = relay.readReply(reply);
    if (report.error !== undefined) {
      return fail(describeErrorInReply(report.error, target));
    }
    if (!expected) return fail(invalidReply(context, headers, body.length));
    // Written before the call is settled, so that a failure here does not settle it twice.
    const written = writeReply(context, reply, body);
    const settle = (sent = written): void => {
      observer.firstContent();
      observer.settled({ end: 'finished', complete: true, report }, () => {
        if (Buffer.isBuffer(sent)) sink.answer(200, headers, sent);
        else sink.takeWhole(headers, sent);
      });
    };
    const storing = relay.kept?.();
    if (storing === undefined) settle();
    else void storing.then((instead) => settle(instead ?? undefined));
  };
  return new CollectedReply(context, flow, {
    bytesMax: limits.replyBytesMax,
    tooLarge: `the reply is larger than ${limits.replyBytesMax} bytes; ask for a stream`,
    endWhenLeft: 'client-left',
    begun: relay.begun,
    complete,
  });
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
export function createErrorReply(context: AnyExchange, flow: UpstreamFlow, { status, headers, received }: ErrorAnswer): ReplyIntake {
  const { target, limits, observer, sink } = context;
  const refusal = { upstreamStatus: status, headers: received };
  const complete = (raw: Buffer, fail: (error: GatewayError) => void): void => {
    const worded = context.relay.readRefusal?.({ status, headers: received, body: raw });
    if (worded !== undefined) return fail(worded);
    const body = scrubBytes(raw, target.upstream.apiKey);
    const parsed = parseIfJson(body);
    const next = adviseOperator(target, status, parsed);
    if (status === 401 || status === 407)
      return fail(credentialRejected(target, `answered ${status}${next === undefined ? '' : `: ${next}`}`));
    const advice = { status: Math.max(status, 400), headers: retryAdvice(headers) };
    if (status < 400 || parsed === undefined) {
      const type = String(received['content-type'] ?? headers['content-type'] ?? 'no content type').slice(0, 100);
      const message = `Upstream connection error: the model service answered ${status} with ${raw.length} bytes of ${type}.`;
      return fail(new GatewayError('upstream_error', message, { ...advice, ...(status < 400 ? { status: 502 } : {}) }));
    }
    const reworded = context.relay.readError({ status, headers, body: parsed });
    if (reworded !== undefined) return fail(reworded);
    const own = describeRefusal(parsed, status, next === undefined ? advice : { ...advice, internal: next });
    const answer = (instead?: GatewayError): void => {
      const error = instead ?? own;
      observer.settled({ end: 'failed', complete: false, error });
      if (instead === undefined && !sink.hasBegun) sink.answer(status, headers, editBody(context, status, parsed) ?? body);
      else sink.fail(error);
    };
    if (!context.handOver({ error: own, ...refusal, upstreamWords: wordsOf(parsed), answer })) answer();
  };
  return new CollectedReply(context, flow, {
    bytesMax: limits.errorBytesMax,
    tooLarge: `the model service's error answer is larger than ${limits.errorBytesMax} bytes`,
    endWhenLeft: 'failed',
    refusal,
    complete,
  });
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
