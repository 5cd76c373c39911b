import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import { azureCredential } from '../azure/azure-credential.ts';
import { CredentialError } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import type { TokenReply } from '../token-client.ts';
import { bearerHeader } from './bearer-header.ts';
import { askCloud, bodyOf, pickMember } from './read-cloud-secret.ts';
import { SecretRefusedError, type SecretStore } from './secret-store.ts';
import type { SecretsSettings } from './secrets-schema.ts';

const usualSuffix = 'vault.azure.net';

/** Azure Key Vault, "Get Secret". Source: its REST reference, version 7.4. */
export function openAzureSecrets(settings: SecretsSettings, means: CredentialMeans): SecretStore {
  const { url, ...azure } = settings.azure ?? {};
  const credential = azureCredential.open({ kind: 'azure', scope: `https://${usualSuffix}/.default`, ...azure }, {}, means);
  return {
    title: 'Azure Key Vault',
    credential,
    close: () => credential.close(),
    read: async (reference, signal) => {
      const [vault = '', ...path] = reference.place.split('/');
      // Other clouds of Azure have other endings, so that a whole name is possible.
      const host = vault.includes('.') ? vault : `${vault}.${usualSuffix}`;
      const address = `${(url ?? `https://${host}`).replace(/\/+$/, '')}/secrets/${path.join('/')}?api-version=7.4`;
      const reply = await askCloud(
        credential,
        (one) => ({ url: address, method: 'GET', headers: bearerHeader(one) }),
        ({ status }) => status === 401,
        { means, signal },
      );
      if (reply.status !== 200) throw explain(reply, vault);
      const value = filledText(bodyOf(reply)['value']);
      if (value === undefined) throw new SecretRefusedError('it is empty');
      return { value: pickMember(value, reference) };
    },
  };
}

function explain(reply: TokenReply, vault: string): CredentialError {
  const error = membersOf(bodyOf(reply)['error']);
  const inner = filledText(membersOf(error['innererror'])['code']);
  const words = filledText(error['message'])?.slice(0, 300) ?? '';
  const said = `it answers ${reply.status}${words === '' ? '' : `, ${words}`}`;
  if (reply.status === 404) return new SecretRefusedError(`there is no such secret in the vault ${vault}`);
  if (inner === 'SecretDisabled') return new SecretRefusedError('it is disabled: enable it, or add a version');
  if (inner === 'ForbiddenByFirewall')
    return new SecretRefusedError(`the firewall of the vault ${vault} refuses this machine: allow its network`);
  if (reply.status === 403)
    return new SecretRefusedError(
      `the identity may not read it: assign the role Key Vault Secrets User, or an access policy with Get (${said})`,
    );
  if (reply.status === 401) return new SecretRefusedError(`the vault refuses the token: is it of the tenant of the vault? (${said})`);
  return new CredentialError(`Key Vault: ${said}`);
}
