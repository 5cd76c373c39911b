import { randomBytes } from 'node:crypto';

import { createAdminTokens } from '../../accounts/people/admin-tokens.ts';
import { createPasswords } from '../../accounts/people/passwords.ts';
import { createPeople, findByIdOrName } from '../../accounts/people/people.ts';
import type { Person } from '../../accounts/people/person.ts';
import { createSessions } from '../../accounts/people/sessions.ts';
import { createSignInLimits } from '../../accounts/people/sign-in-limits.ts';
import { createSignIns } from '../../accounts/people/sign-ins.ts';
import { systemClock } from '../../platform/clock.ts';
import { createIds } from '../../platform/ids.ts';
import type { Store } from '../../store/store.ts';
import { type Environment, StartError } from '../environment.ts';
import { withStore } from './with-accounts.ts';

/** People and their credentials, as a command administers them. */
type PeopleOfCommand = ReturnType<typeof assemble>;

function assemble(store: Store) {
  const own = { store, clock: systemClock, random: randomBytes, ids: createIds(systemClock) };
  const sessions = createSessions(own);
  const limits = createSignInLimits(systemClock);
  return {
    people: createPeople(own),
    sessions,
    signIns: createSignIns({ ...own, sessions, passwords: createPasswords(randomBytes), limits }),
    tokens: createAdminTokens(own),
  };
}

/** Opens the people of the data directory for one command. A running console notices changes with its next request. */
export async function withPeople<Result>(environment: Environment, use: (people: PeopleOfCommand) => Promise<Result>): Promise<Result> {
  return await withStore(environment, (store) => use(assemble(store)));
}

/** A person by id or name. @throws StartError if there is no such person */
export async function findPerson({ people }: Pick<PeopleOfCommand, 'people'>, reference: string): Promise<Person> {
  const person = await findByIdOrName(people, reference);
  if (person === undefined) throw new StartError(`there is no person "${reference}"; weir people list shows them`);
  return person;
}

/** A time of a listing. */
export function showTime(ms: number | undefined): string {
  return ms === undefined ? '-' : new Date(ms).toISOString();
}
