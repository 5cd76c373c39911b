import type { UpstreamRequest } from '../platform/http/upstream-client.ts';
import { createAwsSigner } from './credentials/aws/sign-request.ts';
import type { CloudCredential } from './credentials/cloud-credential.ts';
import { CredentialError } from './credentials/credential-source.ts';
import type { UpstreamAccount } from './upstream-vendor.ts';

export { dnsSuffixOf } from './credentials/aws/regions.ts';

type Signer = ReturnType<typeof createAwsSigner>;

/** A signer keeps the key of the day, so that all upstreams of a scope share it. */
const signers = new Map<string, Signer>();

function signerOf(region: string, service: string): Signer {
  return signers.getOrInsertComputed(`${region} ${service}`, () => createAwsSigner({ region, service }));
}

/**
 * Signs a request, or adds the token of an account whose key is a token. A key of the configuration is in the headers
 * already. At once if the credential is at hand.
 * @param service the name of the service in signatures
 */
export function authorizeWithAws(
  request: UpstreamRequest,
  account: UpstreamAccount,
  signal: AbortSignal,
  service: string,
): UpstreamRequest | Promise<UpstreamRequest> {
  const { apiKey, credential } = account;
  if (apiKey !== undefined) return request;
  if (credential === undefined) throw new CredentialError('the upstream has neither a key nor AWS credentials');
  const found = credential.current(signal);
  const withFound = (one: CloudCredential): UpstreamRequest => withCredential(request, account, one, service);
  return found instanceof Promise ? found.then(withFound) : withFound(found);
}

function withCredential(
  request: UpstreamRequest,
  { origin, facts, nowMs }: UpstreamAccount,
  credential: CloudCredential,
  service: string,
): UpstreamRequest {
  if (credential.kind === 'bearer') return { ...request, headers: { ...request.headers, authorization: `Bearer ${credential.token}` } };
  const { method, path, body } = request;
  // The host as it is sent: with the port if it is not the usual one.
  const host = origin.slice(origin.indexOf('//') + 2);
  const signed = signerOf(facts.region ?? '', service)({ method, path, host, body }, credential, nowMs());
  return { ...request, headers: { ...request.headers, ...signed } };
}
