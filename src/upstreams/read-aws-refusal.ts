import { createOverflowError, createUpstreamError, messageCharactersMax } from '../dialects/upstream-error.ts';
import { type ErrorCode, GatewayError } from '../inference/gateway-error.ts';
import type { ReplyHeaders } from '../platform/http/reply-head.ts';
import { filledText, membersOf } from '../platform/json/json-readers.ts';
import { parseIfJson } from '../platform/json/parse-if-json.ts';
import { adviseAboutAws } from './advise-about-aws.ts';
import type { ErrorAnswer } from './upstream-vendor.ts';

/** Refusals of the signature or of the keys, and not of a right. Source: "common errors" of the API reference. */
const credentialErrors = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

const codes: Readonly<Record<string, ErrorCode>> = {
  AccessDeniedException: 'upstream_permission_denied',
  ResourceNotFoundException: 'upstream_model_not_found',
  ModelTimeoutException: 'upstream_timeout',
  ModelErrorException: 'upstream_error',
  ModelStreamErrorException: 'upstream_error',
  ModelNotReadyException: 'upstream_overloaded',
  ThrottlingException: 'upstream_rate_limited',
  ServiceQuotaExceededException: 'upstream_rate_limited',
  ServiceUnavailableException: 'upstream_overloaded',
  InternalServerException: 'upstream_error',
};

/** `ThrottlingException:http://internal.amazon.com/…` → `ThrottlingException`. */
function kindOf(headers: ReplyHeaders): string | undefined {
  const value = headers['x-amzn-errortype'];
  return typeof value === 'string' ? value.split(':', 1)[0] : undefined;
}

/**
 * Whether an answer refuses the keys or the signature. A missing right is also answered with 403, and new keys do not
 * help.
 */
export function refusesAwsCredential(status: number, headers: ReplyHeaders): boolean {
  if (status === 401) return true;
  const kind = kindOf(headers);
  return status === 403 && kind !== undefined && credentialErrors.has(kind);
}

/**
 * Words an error in AWS's form, `{"message": …}` with its kind in a header. Undefined for errors in the form of a
 * dialect, as the interfaces of OpenAI and Anthropic write them.
 */
export function readAwsRefusal({ status, headers, body, model }: ErrorAnswer): GatewayError | undefined {
  const members = membersOf(parseIfJson(body));
  const kind = kindOf(headers);
  if (members.error !== undefined || (kind === undefined && filledText(members.message) === undefined)) return undefined;
  const message = (filledText(members.message) ?? filledText(members.Message) ?? '').slice(0, messageCharactersMax);
  const words = kind === undefined ? [] : [kind];
  const said = { status, message, words };
  const overflow = createOverflowError(said);
  if (overflow !== undefined) return overflow;
  if (kind !== undefined && credentialErrors.has(kind))
    return withAdvice(createUpstreamError('upstream_credentials_rejected', said), said, model);
  if (/model identifier is invalid/i.test(message))
    return withAdvice(createUpstreamError('upstream_model_not_found', { ...said, message: `${message} ("${model}")` }), said, model);
  const code = kind === undefined ? undefined : codes[kind];
  return withAdvice(createUpstreamError(code ?? byStatus(status), said), said, model);
}

/** Adds the next step for the operator to an error, whose words do not name it. */
function withAdvice(error: GatewayError, said: { readonly status: number; readonly message: string }, model: string): GatewayError {
  const advice = adviseAboutAws({ ...said, model }, {});
  if (advice === undefined) return error;
  const { code, message, status } = error;
  return new GatewayError(code, message, { status, internal: `${advice} (${error.internal ?? ''})` });
}

function byStatus(status: number): ErrorCode {
  if (status === 403) return 'upstream_permission_denied';
  if (status === 429) return 'upstream_rate_limited';
  return status >= 500 ? 'upstream_error' : 'upstream_refused_request';
}
