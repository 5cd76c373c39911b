import { filledText, membersOf, numberOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import { CredentialError } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import type { TokenReply } from '../token-client.ts';
import type { SecretReference } from './secret-reference.ts';
import type { SecretsSettings, VaultSettings } from './secrets-schema.ts';
import { SecretRefusedError, type SecretStore } from './secret-store.ts';
import { openVaultLogin, type VaultToken } from './log-in-to-vault.ts';
import { askVault, vaultPlace } from './ask-vault.ts';

/** Secrets of Vault's KV engine, version 2. Source: Vault's HTTP API, "KV secrets engine - version 2". */
export function openVault(settings: SecretsSettings, means: CredentialMeans): SecretStore {
  const vault = settings.vault ?? {};
  const tokens = openVaultLogin(vault, means);
  return {
    title: 'Vault',
    credential: tokens,
    read: async (reference, signal) => {
      const { path, policy } = pathOf(reference, vault);
      const token = await tokens.current(signal);
      let reply = await ask(path, token, vault, means, signal);
      if (reply.status === 403) {
        // The token may have ended before its time. A new login shows whether it is the policy.
        tokens.refused(token);
        const next = await tokens.current(signal);
        if (next !== token) reply = await ask(path, next, vault, means, signal);
      }
      return readReply(reply, reference, { path, policy, hasMount: vault.mount !== undefined });
    },
    close: () => tokens.close(),
  };
}

function ask(path: string, { token }: VaultToken, vault: VaultSettings, means: CredentialMeans, signal: AbortSignal): Promise<TokenReply> {
  return askVault({ path, method: 'GET', token }, { place: vaultPlace(vault, means), means, signal });
}

/** The path of the interface for a reference, and the one that a policy must allow. */
function pathOf({ place }: SecretReference, { mount }: VaultSettings): { readonly path: string; readonly policy: string } {
  const engine = mount ?? place.slice(0, place.indexOf('/'));
  const name = mount === undefined ? place.slice(engine.length + 1) : place;
  const policy = `${engine.replace(/^\/+|\/+$/g, '')}/data/${name}`;
  return { path: policy.split('/').map(encodeURIComponent).join('/'), policy };
}

type Read = { readonly path: string; readonly policy: string; readonly hasMount: boolean };

function readReply({ status, body }: TokenReply, { place, member = '' }: SecretReference, { policy, hasMount }: Read) {
  const reply = membersOf(parseIfJson(body));
  const data = membersOf(reply['data']);
  if (status !== 200) throw explain(status, reply, place, { policy, hasMount });
  const members = membersOf(data['data']);
  const value = filledText(members[member]);
  if (value === undefined) {
    const problem = members[member] === undefined ? 'is not in it' : 'is not a text, or is empty';
    throw new SecretRefusedError(`"${member}" ${problem}; it has ${Object.keys(members).join(', ') || 'no members'}`);
  }
  const lease = numberOf(reply['lease_duration']) ?? 0;
  return { value, ...(lease > 0 && { recheckMs: lease * 1000 }) };
}

function explain(status: number, reply: JsonObject, place: string, { policy, hasMount }: Omit<Read, 'path'>): CredentialError {
  const words = textsOf(reply['errors']).join('; ').slice(0, 300);
  const metadata = membersOf(membersOf(reply['data'])['metadata']);
  if (status === 403)
    return new SecretRefusedError(
      `the login may not read it: its policy needs path "${policy}" { capabilities = ["read"] }; or the namespace is wrong`,
    );
  if (status === 404) {
    if (filledText(metadata['deletion_time']) !== undefined || metadata['destroyed'] === true)
      return new SecretRefusedError(
        `its newest version (${numberOf(metadata['version']) ?? 'unknown'}) is deleted: write a new one, or undelete it`,
      );
    if (/no handler for route/.test(words))
      return new SecretRefusedError(
        `there is no KV engine at "${policy.split('/data/')[0]}": correct the path${hasMount ? ' in secrets.vault.mount' : ', or set secrets.vault.mount'}`,
      );
    const hint = /^[^/]+\/data\//.test(place) ? '; leave out "data/", which Weir adds' : '';
    return new SecretRefusedError(`there is no such secret (path ${policy}, KV version 2)${hint}`);
  }
  if (status === 503)
    return new CredentialError(`Vault is not available${words === '' ? '' : ` (${words})`}: unseal it, or wait for a leader`);
  return new CredentialError(`Vault answers ${status}${words === '' ? '' : `, ${words}`}`);
}
