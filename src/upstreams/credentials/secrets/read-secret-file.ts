import { CredentialError } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { SecretRefusedError, type SecretStore } from './secret-store.ts';

/** A chain of certificates is smaller. */
const fileCharactersMax = 65_536;

/** How often files are read: as often as the configuration, because watchers do not notice when a mount is swapped. */
const recheckMs = 1_000;

/**
 * Secrets in files, as containers, Kubernetes and systemd have them. A file is read by its path each time, so that a
 * rename and the swap of a symbolic link are noticed. The last line break does not count.
 */
export function openSecretFiles({ readFile }: Pick<CredentialMeans, 'readFile'>): SecretStore {
  return {
    title: 'file',
    close: () => Promise.resolve(),
    read: async ({ place }, signal) => {
      const text = await readFile(place, signal).catch((cause: unknown) => {
        const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'unknown error';
        throw new CredentialError(`the file cannot be read (${code})`, { cause });
      });
      if (text.length > fileCharactersMax)
        throw new SecretRefusedError(`the file has ${text.length} characters; a secret has at most ${fileCharactersMax}`);
      const value = text.replace(/\r?\n$/, '');
      if (value === '') throw new CredentialError('the file is empty');
      return { value, recheckMs };
    },
  };
}
