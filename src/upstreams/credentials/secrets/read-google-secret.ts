import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import { googleCredential } from '../google/google-credential.ts';
import { CredentialError } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import type { TokenReply } from '../token-client.ts';
import { bearerHeader } from './bearer-header.ts';
import { askCloud, bodyOf, pickMember } from './read-cloud-secret.ts';
import { SecretRefusedError, type SecretStore } from './secret-store.ts';
import type { SecretsSettings } from './secrets-schema.ts';

/** Google Secret Manager, versions.access. Source: its REST reference. */
export function openGoogleSecrets(settings: SecretsSettings, means: CredentialMeans): SecretStore {
  const { url, ...google } = settings.google ?? {};
  const credential = googleCredential.open({ kind: 'google', ...google }, {}, means);
  return {
    title: 'Google Secret Manager',
    credential,
    close: () => credential.close(),
    read: async (reference, signal) => {
      const { place } = reference;
      const location = /\/locations\/([a-z0-9-]+)\//.exec(place)?.[1];
      const host = location === undefined ? 'secretmanager.googleapis.com' : `secretmanager.${location}.rep.googleapis.com`;
      const name = place.includes('/versions/') ? place : `${place}/versions/latest`;
      const address = `${(url ?? `https://${host}`).replace(/\/+$/, '')}/v1/${name}:access`;
      const reply = await askCloud(
        credential,
        (one) => ({ url: address, method: 'GET', headers: bearerHeader(one) }),
        ({ status }) => status === 401,
        { means, signal },
      );
      if (reply.status !== 200) throw explain(reply, name);
      const data = filledText(membersOf(bodyOf(reply)['payload'])['data']);
      if (data === undefined) throw new SecretRefusedError('it is empty');
      return { value: pickMember(Buffer.from(data, 'base64').toString(), reference) };
    },
  };
}

function explain(reply: TokenReply, name: string): CredentialError {
  const error = membersOf(bodyOf(reply)['error']);
  const words = filledText(error['message'])?.slice(0, 300) ?? '';
  const said = `it answers ${reply.status}${words === '' ? '' : `, ${words}`}`;
  if (/SERVICE_DISABLED|has not been used in project/.test(reply.body))
    return new SecretRefusedError(`the interface is off in this project: enable secretmanager.googleapis.com (${said})`);
  if (reply.status === 404) return new SecretRefusedError(`there is no ${name}: check project, name and version`);
  if (reply.status === 403)
    return new SecretRefusedError(`the identity may not read it: grant roles/secretmanager.secretAccessor on the secret (${said})`);
  if (reply.status === 400) return new SecretRefusedError(`its version is disabled or destroyed: enable it, or add a version (${said})`);
  if (reply.status === 401) return new SecretRefusedError(`Google refuses the token (${said})`);
  return new CredentialError(`Secret Manager: ${said}`);
}
