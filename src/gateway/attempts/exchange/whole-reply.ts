import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonValue } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { AnyExchange, ExchangeContext, Outcome, ReplyIntake, UndeliveredFailure, UpstreamFlow } from './exchange-context.ts';
import { scrubBytes } from './pass-headers.ts';
import type { ChargedUsage, WrittenReply } from './reply-relay.ts';
import { describeErrorInReply, upstreamTimeout } from './upstream-failure.ts';

type CollectOptions = {
  readonly bytesMax: number;
  /** What the client is told about a body that is larger. */
  readonly tooLarge: string;
  /** How the call ends when the client leaves before the body is whole. */
  readonly endWhenLeft: Outcome['end'];
  /** What is known of the reply then. */
  readonly begun?: (() => ReplyReport) | undefined;
  /** What another attempt would have to know of the answer. */
  readonly refusal?: Pick<UndeliveredFailure, 'upstreamStatus' | 'headers'>;
  /** Called once with the whole body. It settles and answers the call, or calls `fail`. */
  readonly complete: (body: Buffer, fail: (error: GatewayError) => void) => void;
};

/** Pieces that are kept apart until they are joined. */
const chunksMax = 4096;

/**
 * Takes in a body as a whole, within its limits of size and silence. Nothing is sent before all has come, so every failure is still an HTTP
 * status.
 */
class CollectedReply implements ReplyIntake {
  readonly #context: AnyExchange;
  readonly #flow: UpstreamFlow;
  readonly #options: CollectOptions;
  /** Pieces that were joined, and those that came after them. */
  readonly #joined: Buffer[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  #lastDataMs: number;
  /** It is read on although its client has left. */
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

  /** A piece of one byte takes as much memory as one of two hundred. */
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
    const { observer, sink, handOver } = this.#context;
    const answer = (error = own): void => {
      observer.settled({ end: 'failed', complete: false, error });
      sink.fail(error);
    };
    if (!handOver({ error: own, ...this.#options.refusal, answer })) answer();
  }

  clientLeft(drains = false): void {
    const { observer, leaving } = this.#context;
    const { endWhenLeft, begun } = this.#options;
    observer.left?.({ policy: leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    // Of an error nothing is to be learnt.
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
  const message = `Upstream connection error: the model service answered with ${length} bytes of ${type} that are no reply of this interface.`;
  return new GatewayError('upstream_invalid_reply', message, { internal: context.target.upstream.id, cause });
}

/** A parser may ignore a byte order mark (RFC 8259, section 8.1); the bytes go on with it. */
function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** Tells a relay what its reply will be charged, if it ends so. Undefined for what costs nothing. */
export function chargedUsage({ observer }: Pick<ExchangeContext, 'observer'>, end: Outcome['end']): ChargedUsage | undefined {
  const { meter } = observer;
  return meter === undefined ? undefined : (report, complete) => meter({ end, complete, report });
}

/** Writes a reply: as the stream that was asked for, or whole. */
function writeReply<Piece>(context: ExchangeContext<Piece>, reply: unknown, body: Buffer): WrittenReply<Piece> {
  const { relay, framing } = context;
  const charged = chargedUsage(context, 'finished');
  if (framing !== undefined && relay.replay !== undefined) return relay.replay(reply, body, charged);
  return relay.writeReply(reply, body, charged);
}

/**
 * Takes in a whole reply, reads its usage and passes it on as its relay says: byte for byte, or translated. Nothing is sent before all has
 * arrived, so every failure is still an HTTP status.
 * @param expected false when a stream was asked for, the upstream answered otherwise and the relay cannot make a stream of it: then only an
 * error can be inside
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
    // Before the call is settled: what can still go wrong must not settle it a second time.
    const written = writeReply(context, reply, body);
    const settle = (sent = written): void => {
      observer.firstContent();
      observer.settled({ end: 'finished', complete: true, report }, () => {
        if (Buffer.isBuffer(sent)) sink.answer(200, headers, sent);
        else sink.takeWhole(headers, sent);
      });
    };
    const kept = relay.kept?.();
    if (kept === undefined) settle();
    else void kept.then((instead) => settle(instead ?? undefined));
  };
  return new CollectedReply(context, flow, {
    bytesMax: limits.replyBytesMax,
    tooLarge: `the reply is larger than ${limits.replyBytesMax} bytes; ask for a stream`,
    endWhenLeft: 'client-left',
    begun: relay.begun,
    complete,
  });
}

/** The parsed body; undefined when it is no JSON: what it says instead is reported by its length and type. */
function parseIfJson(body: Buffer): JsonValue | undefined {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

function credentialsRejected(context: AnyExchange, status: number): GatewayError {
  const { upstream } = context.target;
  return new GatewayError(
    'upstream_credentials_rejected',
    'the model service refuses the gateway; its operator has to renew the credential',
    {
      internal: `${upstream.id} answered ${status}`,
    },
  );
}

/** The body with what the contract writes besides, where it is kept to the letter. */
function editBody({ relay }: AnyExchange, status: number, parsed: JsonValue): Buffer | undefined {
  const edited = relay.editError?.(status, parsed);
  return edited === undefined ? undefined : Buffer.from(JSON.stringify(edited));
}

/** The head of an upstream's error answer. */
export type ErrorAnswer = {
  readonly status: number;
  /** Those that go to the client. */
  readonly headers: Readonly<Record<string, string>>;
  /** Those that came. */
  readonly received: ReplyHeaders;
};

/**
 * Takes in an upstream's error answer and passes it on as it is: status, headers that may pass, and body. Two kinds are reworded: a refusal
 * of the gateway's own credential, which is none of the client's business, and bodies that no SDK can read.
 */
export function createErrorReply(context: AnyExchange, flow: UpstreamFlow, { status, headers, received }: ErrorAnswer): ReplyIntake {
  const { target, limits, observer, sink } = context;
  const refusal = { upstreamStatus: status, headers: received };
  const complete = (raw: Buffer, fail: (error: GatewayError) => void): void => {
    const worded = context.relay.readRefusal?.({ status, headers: received, body: raw });
    if (worded !== undefined) return fail(worded);
    if (status === 401 || status === 407) return fail(credentialsRejected(context, status));
    const body = scrubBytes(raw, target.upstream.apiKey);
    const kept = { status: Math.max(status, 400), headers: retryAdvice(headers) };
    const parsed = parseIfJson(body);
    if (status < 400 || parsed === undefined) {
      const type = String(received['content-type'] ?? headers['content-type'] ?? 'no content type').slice(0, 100);
      const message = `Upstream connection error: the model service answered ${status} with ${raw.length} bytes of ${type}.`;
      return fail(new GatewayError('upstream_error', message, { ...kept, ...(status < 400 ? { status: 502 } : {}) }));
    }
    const reworded = context.relay.readError({ status, headers, body: parsed });
    if (reworded !== undefined) return fail(reworded);
    const own = new GatewayError('upstream_error', `the model service answered ${status}`, kept);
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

/** Code and message of an error body, whose form is the same in all dialects but one, where it does not matter. */
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
