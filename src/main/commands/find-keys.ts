import { getKey, listKeys } from '../../admin/resources/keys/key-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { StartError } from '../environment.ts';
import { wordRefusal } from './remote/problems.ts';
import { listAll } from './remote/with-service.ts';

/** A key as the API lists it. */
export type ListedKey = NonNullable<typeof listKeys.types>['reply']['items'][number];

/** Finds a key by its id, or by its owner and name: `bob/ci`. @throws StartError if there is none */
export async function findKey(service: AdminService, reference: string): Promise<ListedKey> {
  const unknown = (): StartError =>
    new StartError(`there is no key "${reference}"; name it by id or as user/name (weir keys list shows both)`);
  const slash = reference.indexOf('/');
  if (slash === -1) return (await wordRefusal(service.call(getKey, { params: { id: reference } }), 'not_found', unknown)).body;
  const name = reference.slice(slash + 1).normalize('NFC');
  const key = (await listAll(service, listKeys, { user: reference.slice(0, slash) })).find((each) => each.name === name);
  if (key === undefined) throw unknown();
  return key;
}

/** Finds several keys before any of them is changed. */
export async function findKeys(service: AdminService, references: readonly string[]): Promise<readonly ListedKey[]> {
  const found: ListedKey[] = [];
  for (const reference of references) found.push(await findKey(service, reference));
  return found;
}
