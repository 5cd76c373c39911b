import { filledText, membersOf, numberOf, textsOf } from '../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import { CredentialError, type CredentialSource } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { readNamedFile } from '../read-file.ts';
import { type FetchedCredential, refreshCredentials } from '../refresh-credentials.ts';
import type { TokenReply } from '../token-client.ts';
import { askVault, vaultPlace } from './ask-vault.ts';
import { SecretRefusedError } from './secret-store.ts';
import type { VaultLogin, VaultSettings } from './secrets-schema.ts';

export type VaultToken = { readonly token: string };
type Found = FetchedCredential<VaultToken>;
type Asking = { readonly vault: VaultSettings; readonly means: CredentialMeans; readonly signal: AbortSignal };

/** The usual file of the token of a pod's service account. */
const podTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** The tokens with which Vault is asked: renewed, or issued again by a login, before they end. */
export function openVaultLogin(vault: VaultSettings, means: CredentialMeans): CredentialSource<VaultToken> {
  const { login = { kind: 'token' } } = vault;
  return refreshCredentials<VaultToken>({
    clock: means.clock,
    fetch: (signal) => (login.kind === 'token' ? useToken(login, { vault, means, signal }) : logIn(login, { vault, means, signal })),
  });
}

async function useToken(login: Extract<VaultLogin, { kind: 'token' }>, { vault, means, signal }: Asking): Promise<Found> {
  const { token: given = means.variable('VAULT_TOKEN'), tokenFile } = login;
  const origin = tokenFile === undefined ? 'token' : `token in ${tokenFile}`;
  const token = tokenFile === undefined ? given : (await readNamedFile('secrets.vault.login.tokenFile', tokenFile, means, signal)).trim();
  if (token === undefined || token === '')
    throw new SecretRefusedError('there is no token for Vault: set secrets.vault.login, or VAULT_TOKEN');
  const reply = await askVault(
    { path: 'auth/token/renew-self', method: 'POST', token, body: {} },
    { place: vaultPlace(vault, means), means, signal },
  );
  const words = textsOf(membersOf(parseIfJson(reply.body))['errors']).join('; ');
  // A token may be limited to reading secrets, or not be renewable. Then it is used as it is.
  if (reply.status === 400 || (reply.status === 403 && !/invalid token|bad token/i.test(words))) return { credential: { token }, origin };
  if (reply.status !== 200) throw explain(reply, 'the token of Vault is refused', 'make a new one');
  const renewed = readAuth(reply);
  return renewed.lifeSeconds === 0
    ? { credential: { token }, origin }
    : { credential: { token }, origin, expiresAtMs: means.clock.nowMs() + renewed.lifeSeconds * 1000 };
}

async function logIn(login: Exclude<VaultLogin, { kind: 'token' }>, { vault, means, signal }: Asking): Promise<Found> {
  const isPod = login.kind === 'kubernetes';
  const mount = (login.mount ?? (isPod ? 'kubernetes' : 'approle')).replace(/^\/+|\/+$/g, '');
  const body = isPod ? await podProof(login, means, signal) : await roleProof(login, means, signal);
  const path = `auth/${mount.split('/').map(encodeURIComponent).join('/')}/login`;
  const reply = await askVault({ path, method: 'POST', body }, { place: vaultPlace(vault, means), means, signal });
  if (reply.status !== 200) {
    const what = isPod
      ? `Vault refuses the service account (role ${login.role}, auth/${mount})`
      : `Vault refuses the app role (auth/${mount})`;
    const next = isPod
      ? 'check the role and the service accounts and namespaces that it is bound to'
      : 'check roleId and the secret id, which may have ended';
    throw explain(reply, what, next);
  }
  const { token, lifeSeconds, policies } = readAuth(reply);
  if (token === undefined) throw new CredentialError('Vault answered a login without a token');
  return {
    credential: { token },
    origin: isPod ? 'kubernetes' : 'app-role',
    ...(policies !== '' && { identity: policies }),
    ...(lifeSeconds > 0 && { expiresAtMs: means.clock.nowMs() + lifeSeconds * 1000 }),
  };
}

async function podProof(login: Extract<VaultLogin, { kind: 'kubernetes' }>, means: CredentialMeans, signal: AbortSignal): Promise<object> {
  const { role, tokenFile = podTokenFile } = login;
  // The kubelet replaces the file before its token ends, so it is read each time.
  return { role, jwt: (await readNamedFile('secrets.vault.login.tokenFile', tokenFile, means, signal)).trim() };
}

async function roleProof(login: Extract<VaultLogin, { kind: 'app-role' }>, means: CredentialMeans, signal: AbortSignal): Promise<object> {
  const { roleId, secretId, secretIdFile } = login;
  const secret =
    secretIdFile === undefined ? secretId : (await readNamedFile('secrets.vault.login.secretIdFile', secretIdFile, means, signal)).trim();
  // A role may be configured to need no secret id.
  return { role_id: roleId, ...(secret !== undefined && { secret_id: secret }) };
}

function readAuth({ body }: TokenReply): { readonly token: string | undefined; readonly lifeSeconds: number; readonly policies: string } {
  const auth = membersOf(membersOf(parseIfJson(body))['auth']);
  return {
    token: filledText(auth['client_token']),
    lifeSeconds: numberOf(auth['lease_duration']) ?? 0,
    policies: textsOf(auth['policies']).join(', '),
  };
}

/** Words a refusal. Vault's own words have no secret in them. */
function explain({ status, body }: TokenReply, what: string, next: string): CredentialError {
  const words = textsOf(membersOf(parseIfJson(body))['errors'])
    .join('; ')
    .slice(0, 300);
  const said = `it answers ${status}${words === '' ? '' : `, ${words}`}`;
  if (status === 503) return new CredentialError(`Vault is not available (${said}): unseal it, or wait for a leader`);
  if (status >= 500 || status === 429) return new CredentialError(`Vault could not sign Weir in: ${said}`);
  return new SecretRefusedError(`${what}: ${next} (${said})`);
}
