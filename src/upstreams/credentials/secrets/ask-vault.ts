import { CredentialError } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import type { TokenReply } from '../token-client.ts';
import { SecretRefusedError } from './secret-store.ts';
import type { VaultSettings } from './secrets-schema.ts';

/** Where Vault is. */
export type VaultPlace = { readonly address: string; readonly namespace: string | undefined };

/** @throws CredentialError if no address is known */
export function vaultPlace({ address, namespace }: VaultSettings, { variable }: Pick<CredentialMeans, 'variable'>): VaultPlace {
  const found = address ?? variable('VAULT_ADDR');
  if (found === undefined) throw new SecretRefusedError('there is no address of Vault: set secrets.vault.address or VAULT_ADDR');
  return { address: found.replace(/\/+$/, ''), namespace: namespace ?? variable('VAULT_NAMESPACE') };
}

/** Asks Vault. @throws CredentialError if it does not answer */
export async function askVault(
  {
    path,
    method,
    token,
    body,
  }: { readonly path: string; readonly method: 'GET' | 'POST'; readonly token?: string; readonly body?: object },
  { place, means, signal }: { readonly place: VaultPlace; readonly means: Pick<CredentialMeans, 'ask'>; readonly signal: AbortSignal },
): Promise<TokenReply> {
  const { address, namespace } = place;
  const headers = {
    'x-vault-request': 'true',
    ...(token !== undefined && { 'x-vault-token': token }),
    ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const request = { url: `${address}/v1/${path}`, method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const reply = await means.ask(request, signal).catch((cause: unknown) => {
    throw new CredentialError(`Vault at ${address} does not answer`, { cause });
  });
  // A standby without forwarding names the active server.
  if (reply.status === 307)
    throw new CredentialError(
      `Vault at ${address} is a standby, and Weir follows no redirect with a token: set the address of the active server or of the cluster`,
    );
  return reply;
}
