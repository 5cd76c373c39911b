import type { SubmissionAnswer, VideoProtocol, WholeReply } from '../../../../dialects/video-tasks/video-protocol.ts';
import { hideSecrets, isModeration } from '../../../../dialects/upstream-error.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';
import { scrubText } from '../../../attempts/exchange/pass-headers.ts';
import type { GatewaySettings } from '../../../attempts/services.ts';
import type { GatewayTimeouts } from '../../../settings/limits.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/**
 * The meaning of a failed submission. `failed`: the upstream did not accept it, so another target may get it.
 * `refused`: the upstream rejects the request. `unclear`: the upstream may have accepted it, so sending it again could
 * make and bill a second video.
 */
type Fate = 'failed' | 'refused' | 'unclear';

const fates = new WeakMap<GatewayError, Fate>();

/** The answer to a submission has a few hundred bytes. */
const replyBytesMax = 1024 * 1024;
/** An upstream only queues a submission. A client that waits longer than this has left. */
const answerMsMax = 120_000;

/** Settings of submissions. */
export function limitSubmission(settings: GatewaySettings): GatewaySettings {
  const { limits } = settings;
  return { ...settings, limits: { ...limits, replyBytesMax: Math.min(limits.replyBytesMax, replyBytesMax) } };
}

/** The timeouts of a submission, instead of those of its target. */
export function limitTimes(timeouts: GatewayTimeouts): GatewayTimeouts {
  const { firstByteMs, totalMs } = timeouts;
  return { ...timeouts, firstByteMs: Math.min(firstByteMs, answerMsMax), totalMs: Math.min(totalMs, 2 * answerMsMax) };
}

/** Failures before anything was sent: no connection, or an untrusted one. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'CONNECT_TIMEOUT',
  'CLIENT_CLOSED',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function wasNeverSent({ cause }: GatewayError): boolean {
  return typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' && neverSent.has(cause.code);
}

/** The meaning of a failed submission. */
export function fateOf(error: GatewayError): Fate {
  return fates.get(error) ?? (wasNeverSent(error) ? 'failed' : 'unclear');
}

/** The upstream's acceptance of a submission. */
export type Acceptance = Extract<SubmissionAnswer, { readonly type: 'accepted' }>;

/** Reads the answer to a submission. The client does not see it. @param accepted called with the acceptance */
export function createSubmissionRelay(protocol: VideoProtocol, target: Target, accepted: (said: Acceptance) => void): ReplyRelay {
  return {
    upstreamFraming: undefined,
    replyHeaders: () => ({}),
    parse: (body) => {
      const said = readAnswer(protocol, { status: 200, body });
      if (said.type !== 'accepted') throw describeAnswer(said, target);
      accepted(said);
      return undefined;
    },
    readReply: () => ({ outputCharacters: 0 }),
    writeReply: () => Buffer.alloc(0),
    openStream: () => {
      throw new Error('the answer to a submission is never a stream');
    },
    readError: () => undefined,
    readRefusal: (answer) => describeFailure(protocol, answer, target),
  };
}

function describeFailure(protocol: VideoProtocol, answer: WholeReply, target: Target): GatewayError {
  const rejection = describeRejection(answer, target);
  if (rejection !== undefined) return withFate('failed', rejection);
  const { status } = answer;
  return status >= 500 ? unclear(target, `it answered ${status}`) : describeAnswer(readAnswer(protocol, answer), target);
}

function describeAnswer(said: SubmissionAnswer, target: Target): GatewayError {
  if (said.type === 'refused') return withFate('refused', describeRefusal(said, target));
  return unclear(target, said.type === 'unclear' ? said.reason : 'its status contradicts its body');
}

function withFate(fate: Fate, error: GatewayError): GatewayError {
  fates.set(error, fate);
  return error;
}

/** Reads untrusted bytes. An answer that cannot be read proves nothing. */
function readAnswer(protocol: VideoProtocol, answer: WholeReply): SubmissionAnswer {
  try {
    return protocol.readSubmission(answer);
  } catch {
    // The upstream may have accepted it, so the task stays open and is polled.
    return { type: 'unclear', reason: 'its answer cannot be read' };
  }
}

function unclear({ upstream }: Target, reason: string): GatewayError {
  return new GatewayError('upstream_error', 'the model service gave no clear answer to the submission', {
    internal: `${upstream.id}: ${reason}`,
  });
}

const wordsMax = 2000;

/** Answers about the operator's account or the upstream's state. They prove that nothing was accepted. */
function describeRejection({ status, body }: WholeReply, { upstream }: Target): GatewayError | undefined {
  const internal = `${upstream.id} answered ${status}`;
  const said = readError(body);
  const words = hideSecrets(scrubText(said.message, upstream.apiKey)).slice(0, wordsMax);
  switch (status) {
    case 401:
    case 403:
    case 407: {
      // A moderation is a refusal of the request.
      if (isModeration({ status, message: said.message, words: [] })) return undefined;
      const message = "the model service rejects the gateway's credential; the operator must renew it";
      return new GatewayError('upstream_credentials_rejected', message, { internal });
    }
    case 402:
      return new GatewayError('upstream_quota_exhausted', "the operator's account at the model service has no credit left", { internal });
    case 429: {
      const message = words === '' ? 'the model service limits the rate of requests' : words;
      return new GatewayError('upstream_rate_limited', message, { internal, retryAfterSeconds: 1 });
    }
    case 503:
    case 529:
      // Only the vendor can prove that nothing was accepted. A load balancer sends the same status if it lost the
      // connection.
      if (!said.isVendors) return undefined;
      return new GatewayError('upstream_overloaded', words === '' ? 'the model service is overloaded' : words, { internal });
    default:
      return undefined;
  }
}

/**
 * The message of an error in the forms of video interfaces: `{error: {message}}`, `{error: "…"}`, `{code, message}`.
 * `isVendors`: it has such a form. Load balancers and proxies send a plain `{message}`.
 */
function readError(body: Buffer): { readonly message: string; readonly isVendors: boolean } {
  const parsed = parseJsonObject(body);
  const error = parsed?.['error'];
  if (typeof error === 'string') return { message: error, isVendors: error !== '' };
  if (typeof error === 'object' && error !== null) {
    const message = 'message' in error ? error['message'] : undefined;
    return typeof message === 'string' ? { message, isVendors: true } : { message: '', isVendors: 'code' in error || 'type' in error };
  }
  const message = parsed?.['message'];
  return {
    message: typeof message === 'string' ? message : '',
    isVendors: typeof message === 'string' && typeof parsed?.['code'] === 'string',
  };
}

/** The upstream's refusal with its own message, which is about the request. */
function describeRefusal(said: Extract<SubmissionAnswer, { type: 'refused' }>, { upstream }: Target): GatewayError {
  const message = scrubText(said.message, upstream.apiKey).slice(0, wordsMax);
  const options = { internal: `${upstream.id} answered ${said.status}`, ...(said.param === undefined ? {} : { param: said.param }) };
  if (said.status === 404) return new GatewayError('upstream_model_not_found', message, options);
  const status = said.status >= 400 && said.status < 500 ? said.status : 400;
  return new GatewayError('upstream_refused_request', message, { ...options, status });
}
