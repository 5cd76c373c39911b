import type { UpstreamRequest } from '../platform/http/upstream-client.ts';
import { CredentialError } from './credentials/credential-source.ts';
import type { CloudCredential } from './credentials/cloud-credential.ts';
import type { UpstreamAccount } from './upstream-vendor.ts';

/**
 * Adds the short-lived token of an account to a request: synchronously while one is at hand. An account with a key has
 * its header already.
 * @throws CredentialError for a credential of another kind
 */
export function authorizeWithBearer(
  request: UpstreamRequest,
  { credential }: UpstreamAccount,
  signal: AbortSignal,
): UpstreamRequest | Promise<UpstreamRequest> {
  if (credential === undefined) return request;
  const current = credential.current(signal);
  return current instanceof Promise ? current.then((one) => withToken(request, one)) : withToken(request, current);
}

function withToken(request: UpstreamRequest, credential: CloudCredential): UpstreamRequest {
  if (credential.kind !== 'bearer') throw new CredentialError('the credential of this upstream is not a token');
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${credential.token}` } };
}
