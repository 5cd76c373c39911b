import type { SubmissionAnswer, VideoProtocol, VideoSubmission } from '../../../../dialects/video-tasks/video-protocol.ts';
import { hideSecrets, isModeration } from '../../../../dialects/upstream-error.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { TaskReading } from '../../../../tasks/video-upstreams.ts';
import { askTarget, type WholeAnswer } from '../../../attempts/exchange/ask-target.ts';
import { scrubText } from '../../../attempts/exchange/scrub-credential.ts';
import type { GatewayLimits, GatewayTimeouts } from '../../../settings/limits.ts';
import { createUpstreamHeaders } from '../../../attempts/exchange/prepare-request.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { toReading } from '../upstream/video-upstreams.ts';

/**
 * What became of a submission. `failed`: nothing was taken, because nothing was sent or by the upstream's own word, and another target may be asked. `refused`: the upstream will not make this video. `unclear`: it
 * may have been taken; sending it again, anywhere, could make and bill a second video.
 */
export type Submitted =
  | { readonly type: 'accepted'; readonly upstreamTaskId: string; readonly reading: TaskReading }
  | { readonly type: 'refused' | 'failed'; readonly error: GatewayError; readonly answer: WholeAnswer | undefined }
  | { readonly type: 'unclear'; readonly error: GatewayError; readonly answer: WholeAnswer | undefined };

export type SubmitOptions = {
  readonly target: Target;
  readonly protocol: VideoProtocol;
  readonly submission: VideoSubmission;
  /** Names this attempt at the upstream. */
  readonly idempotencyKey: string;
  /** Headers of the client, which pass where the upstream takes them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly timeouts: GatewayTimeouts;
  readonly limits: Pick<GatewayLimits, 'replyBytesMax'>;
  readonly onHead: (status: number) => void;
};

/** An upstream only notes down what it is to make; a client that waits for longer than this has left. */
const answerMsMax = 120_000;
/** A receipt for a submission has a few hundred bytes. */
const replyBytesMax = 1024 * 1024;

/** Failures before anything could be sent: there was no connection, or not the right one. */
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

/**
 * Sends a submission, once. The client's leaving does not end it: whether the upstream has taken it would not be known then.
 */
export async function submit(options: SubmitOptions): Promise<Submitted> {
  const { target, protocol } = options;
  let answer: WholeAnswer;
  try {
    answer = await ask(options);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { type: wasNeverSent(error) ? 'failed' : 'unclear', error, answer: undefined };
  }
  const { status } = answer;
  const rejection = describeRejection(answer, target);
  if (rejection !== undefined) return { type: 'failed', error: rejection, answer };
  if (status >= 500) return { type: 'unclear', error: unclear(target, `it answered ${status}`), answer };
  const said = readAnswer(protocol, answer);
  switch (said.type) {
    case 'accepted':
      return { type: 'accepted', upstreamTaskId: said.upstreamTaskId, reading: toReading(said.video) };
    case 'refused':
      return { type: 'refused', error: describeRefusal(said, target), answer };
    case 'unclear':
      return { type: 'unclear', error: unclear(target, said.reason), answer };
  }
}

function ask({ target, submission, idempotencyKey, headers: own, timeouts, limits, onHead }: SubmitOptions): Promise<WholeAnswer> {
  const { upstream } = target;
  const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
  const headers = {
    ...createUpstreamHeaders({ operation: 'generate', body: {}, headers: own }, target, dialects, undefined),
    ...submission.headers,
    'idempotency-key': idempotencyKey,
  };
  const bounded = {
    ...timeouts,
    firstByteMs: Math.min(timeouts.firstByteMs, answerMsMax),
    totalMs: Math.min(timeouts.totalMs, 2 * answerMsMax),
  };
  const request = { path: `${upstream.basePath}${submission.path}`, method: 'POST', headers, body: submission.body } as const;
  return askTarget(target, request, {
    timeouts: bounded,
    limits: { replyBytesMax: Math.min(limits.replyBytesMax, replyBytesMax) },
    signal: new AbortController().signal,
    onHead,
  });
}

/** A protocol meets bytes of strangers; what it cannot take tells nothing. */
function readAnswer(protocol: VideoProtocol, answer: WholeAnswer): SubmissionAnswer {
  try {
    return protocol.readSubmission(answer);
  } catch {
    // Not the client's fault, and not known to be nobody's work: the lifecycle finds out.
    return { type: 'unclear', reason: 'its answer cannot be read' };
  }
}

function unclear({ upstream }: Target, reason: string): GatewayError {
  return new GatewayError('upstream_error', 'the model service gave no clear answer to the submission', {
    internal: `${upstream.id}: ${reason}`,
  });
}

const wordsMax = 2000;

/** Answers that are not about this request but about the operator's account or the upstream's state: nothing was taken. */
function describeRejection({ status, body }: WholeAnswer, { upstream }: Target): GatewayError | undefined {
  const internal = `${upstream.id} answered ${status}`;
  const said = readError(body);
  const words = hideSecrets(scrubText(said.message, upstream.apiKey)).slice(0, wordsMax);
  switch (status) {
    case 401:
    case 403:
    case 407: {
      // What the vendor does not want to make is the client's business, and goes the way of refusals.
      if (isModeration({ status, message: said.message, words: [] })) return undefined;
      const message = 'the model service refuses the gateway; its operator has to renew the credential';
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
      // Only the vendor itself can say that it took nothing. A balancer on the way answers so as well when it has lost the connection behind it.
      if (!said.isVendors) return undefined;
      return new GatewayError('upstream_overloaded', words === '' ? 'the model service is overloaded' : words, { internal });
    default:
      return undefined;
  }
}

/**
 * The words of an error in any of the shapes that such interfaces have: `{error: {message}}`, `{error: "…"}`, `{code, message}`. `isVendors`: it has such a shape; a mere
 * `{message}` is what balancers and proxies write.
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

/** The upstream's refusal in its own words: they are about the request. */
function describeRefusal(said: Extract<SubmissionAnswer, { type: 'refused' }>, { upstream }: Target): GatewayError {
  const message = scrubText(said.message, upstream.apiKey).slice(0, wordsMax);
  const options = { internal: `${upstream.id} answered ${said.status}`, ...(said.param === undefined ? {} : { param: said.param }) };
  if (said.status === 404) return new GatewayError('upstream_model_not_found', message, options);
  const status = said.status >= 400 && said.status < 500 ? said.status : 400;
  return new GatewayError('upstream_refused_request', message, { ...options, status });
}
