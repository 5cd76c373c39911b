import type { ApiKey } from '../../accounts/api-key.ts';
import type { Accounts } from '../../accounts/create-accounts.ts';
import { StartError } from '../environment.ts';

/** Finds a key by its id, or by its owner and name: `bob/ci`. @throws StartError if there is none */
export async function findKey(accounts: Accounts, reference: string): Promise<ApiKey> {
  const slash = reference.indexOf('/');
  const key = await accounts.findApiKey(
    slash === -1 ? { id: reference } : { userName: reference.slice(0, slash), name: reference.slice(slash + 1) },
  );
  if (key === undefined) throw new StartError(`there is no key "${reference}"; name it by id or as user/name (weir keys list shows both)`);
  return key;
}

/** Finds several keys with one reading of the list. */
export async function findKeys(accounts: Accounts, references: readonly string[]): Promise<readonly ApiKey[]> {
  if (references.length === 1) return [await findKey(accounts, references[0] ?? '')];
  const listed = await accounts.listApiKeys();
  const byReference = new Map<string, ApiKey>(
    listed.flatMap((key) => [[`${key.userName}/${key.name}`, key] as const, [key.id, key] as const]),
  );
  return await Promise.all(
    references.map(async (reference) => byReference.get(reference.normalize('NFC')) ?? (await findKey(accounts, reference))),
  );
}
