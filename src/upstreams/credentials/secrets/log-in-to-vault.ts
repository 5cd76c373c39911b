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
type Login = Exclude<VaultLogin, { kind: 'token' }>;
type Asking = { readonly vault: VaultSettings; readonly means: CredentialMeans; readonly signal: AbortSignal };

/** The usual file of the token of a pod's service account. */
const podTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** A token that a login has issued and Vault renews. */
type Issued = { readonly token: string; readonly lifeSeconds: number };

/** The tokens with which Vault is asked: renewed, or issued again by a login, before they end. */
export function openVaultLogin(vault: VaultSettings, means: CredentialMeans): CredentialSource<VaultToken> {
  const { login = { kind: 'token' } } = vault;
  if (login.kind === 'token')
    return refreshCredentials<VaultToken>({ clock: means.clock, fetch: (signal) => useToken(login, { vault, means, signal }) });
  const issuer = new LoginTokens(login, vault, means);
  const source = refreshCredentials<VaultToken>({ clock: means.clock, fetch: (signal) => issuer.fetch(signal) });
  return {
    ...source,
    refused: (token) => {
      issuer.refused();
      source.refused(token);
    },
  };
}

/**
 * Renews the token of a login before it logs in again: a secret id may be good for one login only. If the token was
 * refused, a login comes first, because its role may have other policies now.
 */
class LoginTokens {
  readonly #login: Login;
  readonly #asking: Omit<Asking, 'signal'>;
  #issued: Issued | undefined;
  #wasRefused = false;

  constructor(login: Login, vault: VaultSettings, means: CredentialMeans) {
    this.#login = login;
    this.#asking = { vault, means };
  }

  refused(): void {
    this.#wasRefused = true;
  }

  async fetch(signal: AbortSignal): Promise<Found> {
    const asking = { ...this.#asking, signal };
    const renew = async (): Promise<Found | undefined> =>
      this.#issued === undefined ? undefined : await renewIssued(this.#issued, this.#login, asking);
    if (!this.#wasRefused) return (await renew()) ?? (await this.#logIn(asking));
    this.#wasRefused = false;
    try {
      return await this.#logIn(asking);
    } catch (error) {
      const renewed = error instanceof SecretRefusedError ? await renew() : undefined;
      if (renewed === undefined) throw error;
      return renewed;
    }
  }

  async #logIn(asking: Asking): Promise<Found> {
    const { issued, ...found } = await logIn(this.#login, asking);
    this.#issued = issued;
    return found;
  }
}

/**
 * The same token with a new life. Undefined if a login must issue another one: Vault does not renew it, or not for half
 * of its first life, because its greatest age is near.
 */
async function renewIssued({ token, lifeSeconds }: Issued, login: Login, asking: Asking): Promise<Found | undefined> {
  const reply = await renewSelf(token, asking);
  const renewed = readAuth(reply);
  if (reply.status !== 200 || renewed.lifeSeconds < lifeSeconds / 2) return undefined;
  return describeLogin(login, { ...renewed, token }, asking.means);
}

/** A token renews itself. Source: Vault's HTTP API, "Renew a token (self)". */
function renewSelf(token: string, { vault, means, signal }: Asking): Promise<TokenReply> {
  const request = { path: 'auth/token/renew-self', method: 'POST', token, body: {} } as const;
  return askVault(request, { place: vaultPlace(vault, means), means, signal });
}

async function useToken(login: Extract<VaultLogin, { kind: 'token' }>, asking: Asking): Promise<Found> {
  const { means, signal } = asking;
  const { token: given = means.variable('VAULT_TOKEN'), tokenFile } = login;
  const origin = tokenFile === undefined ? 'token' : `token in ${tokenFile}`;
  const token = tokenFile === undefined ? given : (await readNamedFile('secrets.vault.login.tokenFile', tokenFile, means, signal)).trim();
  if (token === undefined || token === '')
    throw new SecretRefusedError('there is no token for Vault: set secrets.vault.login, or VAULT_TOKEN');
  const reply = await renewSelf(token, asking);
  const words = wordsOf(reply);
  // A token may be limited to reading secrets, or not be renewable. Then it is used as it is.
  if (reply.status === 400 || (reply.status === 403 && !/invalid token|bad token/i.test(words))) return { credential: { token }, origin };
  if (reply.status !== 200) throw explain(reply, 'the token of Vault is refused', 'make a new one');
  const renewed = readAuth(reply);
  return renewed.lifeSeconds === 0
    ? { credential: { token }, origin }
    : { credential: { token }, origin, expiresAtMs: means.clock.nowMs() + renewed.lifeSeconds * 1000 };
}

async function logIn(login: Login, { vault, means, signal }: Asking): Promise<Found & { readonly issued: Issued | undefined }> {
  const isPod = login.kind === 'kubernetes';
  const mount = (login.mount ?? (isPod ? 'kubernetes' : 'approle')).replace(/^\/+|\/+$/g, '');
  const body = isPod ? await podProof(login, means, signal) : await roleProof(login, means, signal);
  const path = `auth/${mount.split('/').map(encodeURIComponent).join('/')}/login`;
  const reply = await askVault({ path, method: 'POST', body }, { place: vaultPlace(vault, means), means, signal });
  if (reply.status !== 200) throw explainLogin(reply, login, mount, vaultPlace(vault, means).namespace);
  const auth = readAuth(reply);
  const { token, lifeSeconds } = auth;
  if (token === undefined) throw new CredentialError('Vault answered a login without a token');
  return { ...describeLogin(login, { ...auth, token }, means), issued: auth.isRenewable ? { token, lifeSeconds } : undefined };
}

function describeLogin(
  { kind }: Login,
  { token, lifeSeconds, policies }: Auth & { readonly token: string },
  { clock }: CredentialMeans,
): Found {
  return {
    credential: { token },
    origin: kind,
    ...(policies !== '' && { identity: policies }),
    ...(lifeSeconds > 0 && { expiresAtMs: clock.nowMs() + lifeSeconds * 1000 }),
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

type Auth = {
  readonly token: string | undefined;
  readonly lifeSeconds: number;
  readonly policies: string;
  readonly isRenewable: boolean;
};

function readAuth({ body }: TokenReply): Auth {
  const auth = membersOf(membersOf(parseIfJson(body))['auth']);
  return {
    token: filledText(auth['client_token']),
    lifeSeconds: numberOf(auth['lease_duration']) ?? 0,
    policies: textsOf(auth['policies']).join(', '),
    isRenewable: auth['renewable'] === true,
  };
}

function explainLogin(reply: TokenReply, login: Login, mount: string, namespace: string | undefined): CredentialError {
  const place = `auth/${mount} in ${namespace === undefined ? 'the root namespace' : `the namespace ${namespace}`}`;
  if (login.kind === 'app-role')
    return explain(
      reply,
      `Vault refuses the app role (${place})`,
      reply.status === 403
        ? 'check that the login method is there'
        : 'check roleId and the secret id, which may have ended or have been used as often as it may be',
    );
  const isVague = /permission denied/.test(wordsOf(reply));
  return explain(
    reply,
    `Vault refuses the service account (role ${login.role}, ${place})`,
    isVague
      ? 'check that the login method is there, and that it may review tokens of this cluster (system:auth-delegator)'
      : 'check the role, and the service accounts, namespaces and audience that it is bound to',
  );
}

function wordsOf({ body }: TokenReply): string {
  const said = textsOf(membersOf(parseIfJson(body))['errors']).join('; ');
  // Vault lists errors on lines of their own: "1 error occurred:", then a mark before each.
  return said
    .replaceAll(/\d+ errors? occurred:\s*/g, '')
    .replaceAll(/\s*\*\s+/g, '; ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^; /, '')
    .trim()
    .slice(0, 300);
}

/** Words a refusal. Vault's own words have no secret in them. */
function explain(reply: TokenReply, what: string, next: string): CredentialError {
  const { status } = reply;
  const words = wordsOf(reply);
  const said = `it answers ${status}${words === '' ? '' : `, ${words}`}`;
  if (status === 503) return new CredentialError(`Vault is not available (${said}): unseal it, or wait for a leader`);
  if (status >= 500 || status === 429) return new CredentialError(`Vault could not sign Weir in: ${said}`);
  return new SecretRefusedError(`${what}: ${next} (${said})`);
}
