import { randomBytes } from 'node:crypto';

import { asText, isRecord, type JsonRecord, parseRecord } from '../../read-json.ts';

import { denied, errors, type KnownToken, type Reply, type VaultState } from './vault-state.ts';

/** The claims of a pod's token that a role is bound to. */
type PodClaims = {
  readonly name?: string;
  readonly namespace?: string;
  readonly audience?: string;
  /** In Unix milliseconds. */
  readonly expiresAtMs?: number;
};

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token as Kubernetes projects it into a pod. It is confirmed until it is removed from `podTokens`. */
export function issuePodToken(
  { podTokens }: Pick<VaultState, 'podTokens'>,
  { name = 'weir', namespace = 'models', audience = 'https://kubernetes.default.svc', expiresAtMs }: PodClaims = {},
): string {
  const claims = {
    aud: [audience],
    ...(expiresAtMs !== undefined && { exp: Math.floor(expiresAtMs / 1000) }),
    'kubernetes.io': { namespace, serviceaccount: { name, uid: `uid-of-${name}` } },
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  const token = `${part({ alg: 'RS256', kid: 'simulated' })}.${part(claims)}.${randomBytes(32).toString('base64url')}`;
  podTokens.add(token);
  return token;
}

/** A login, in the order in which Vault's methods check it. */
export function logIn(state: VaultState, nowMs: number, method: 'kubernetes' | 'approle', body: JsonRecord): Reply {
  const refusal = method === 'kubernetes' ? checkPod(state, nowMs, body) : checkAppRole(state, body);
  return refusal ?? { status: 200, body: { auth: issue(state, nowMs) } };
}

/** Source: path_login.go of Vault's Kubernetes method. */
function checkPod({ podRoles, podTokens }: VaultState, nowMs: number, { role, jwt }: JsonRecord): Reply | undefined {
  if (asText(role) === '') return errors(400, 'missing role');
  if (asText(jwt) === '') return errors(400, 'missing jwt');
  const bound = podRoles.get(asText(role));
  if (bound === undefined) return errors(400, `invalid role name "${asText(role)}"`);
  const claims = readClaims(asText(jwt));
  if (claims === undefined) return errors(403, 'error validating token: malformed jwt');
  if (typeof claims.exp === 'number' && claims.exp * 1000 <= nowMs)
    return errors(403, 'error validating token: invalid expiration time (exp) claim: token is expired');
  const audiences = Array.isArray(claims.aud) ? claims.aud : [];
  if (bound.audience !== undefined && !audiences.includes(bound.audience))
    return errors(403, 'error validating token: invalid audience (aud) claim: audience claim does not match any expected audience');
  const pod = isRecord(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
  const account = isRecord(pod.serviceaccount) ? pod.serviceaccount : {};
  if (!bound.names.includes(asText(account.name))) return errors(403, 'service account name not authorized');
  if (!bound.namespaces.includes(asText(pod.namespace))) return errors(403, 'namespace not authorized');
  return podTokens.has(asText(jwt)) ? undefined : denied();
}

function readClaims(jwt: string): JsonRecord | undefined {
  const [, payload = ''] = jwt.split('.');
  return parseRecord(Buffer.from(payload, 'base64url'));
}

/** Source: path_login.go of Vault's AppRole method. A secret id of limited use is gone after its last one. */
function checkAppRole({ appRoles }: VaultState, body: JsonRecord): Reply | undefined {
  const [roleId, secretId] = [asText(body.role_id).trim(), asText(body.secret_id).trim()];
  if (roleId === '') return errors(400, 'missing role_id');
  const role = appRoles.get(roleId);
  if (role === undefined) return errors(400, 'invalid role or secret ID');
  if (role.secretIds === undefined) return undefined;
  if (secretId === '') return errors(400, 'missing secret_id');
  const uses = role.secretIds.get(secretId);
  if (uses === undefined) return errors(400, 'invalid role or secret ID');
  if (uses === 1) role.secretIds.delete(secretId);
  else role.secretIds.set(secretId, uses - 1);
  return undefined;
}

const policies = ['default', 'weir'];

function issue(state: VaultState, nowMs: number): object {
  const { tokenSeconds, tokenSecondsMax, areRenewable, tokenUses, loginReads, namespace } = state;
  const seconds = Math.min(tokenSeconds, tokenSecondsMax);
  const token = `${areRenewable ? 'hvs' : 'hvb'}.${randomBytes(18).toString('base64url')}`;
  state.tokens.set(token, {
    reads: loginReads,
    namespace,
    expiresAtMs: nowMs + seconds * 1000,
    endsAtMs: nowMs + tokenSecondsMax * 1000,
    isRenewable: areRenewable,
    ...(tokenUses > 0 && { usesLeft: tokenUses }),
  });
  return { client_token: token, policies, lease_duration: seconds, renewable: areRenewable };
}

/** A renewal of the token itself. It ends at its greatest age, however often it is renewed. */
export function renew(state: VaultState, nowMs: number, token: string, known: KnownToken): Reply {
  if (!known.isRenewable) return errors(400, 'lease is not renewable');
  if (known.expiresAtMs === undefined) return { status: 200, body: { auth: { client_token: token, lease_duration: 0, renewable: false } } };
  known.expiresAtMs = Math.min(nowMs + state.tokenSeconds * 1000, known.endsAtMs ?? Number.POSITIVE_INFINITY);
  const lease = Math.floor((known.expiresAtMs - nowMs) / 1000);
  const isCut = lease < state.tokenSeconds;
  const warnings = isCut
    ? [`TTL of "${state.tokenSeconds}s" exceeded the effective max_ttl of "${lease}s"; TTL value is capped accordingly`]
    : null;
  return { status: 200, body: { auth: { client_token: token, policies, lease_duration: lease, renewable: true }, warnings } };
}
