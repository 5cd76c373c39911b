import { GatewayError } from '../../../inference/gateway-error.ts';
import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonValue } from '../../../platform/json/json-value.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { createCollectedReply } from './collect-reply.ts';
import type { AnyExchange, ReplyIntake, UpstreamFlow } from './exchange-context.ts';
import { scrubBytes } from './scrub-credential.ts';

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
  return createCollectedReply(context, flow, {
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
