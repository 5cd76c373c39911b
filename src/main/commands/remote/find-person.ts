import { listPeople } from '../../../admin/resources/people/people-operations.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import { StartError } from '../../environment.ts';

/** A person as the API lists it. */
export type ListedPerson = NonNullable<typeof listPeople.types>['reply']['items'][number];

/** A person by id or name. @throws StartError if there is no such person */
export async function findPerson(service: AdminService, reference: string): Promise<ListedPerson> {
  const { items } = (await service.call(listPeople)).body;
  const key = reference.normalize('NFC').toLowerCase();
  // The id is compared first, so that nobody can take the id of another person as a name.
  const person = items.find(({ id }) => id === reference) ?? items.find(({ name }) => name.normalize('NFC').toLowerCase() === key);
  if (person === undefined) throw new StartError(`there is no person "${reference}"; weir people list shows them`);
  return person;
}
