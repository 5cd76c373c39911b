import { randomBytes } from 'node:crypto';

import { createAdminTokens } from '../../accounts/people/admin-tokens.ts';
import { createPasswords } from '../../accounts/people/passwords.ts';
import { createPeople } from '../../accounts/people/people.ts';
import { createSessions } from '../../accounts/people/sessions.ts';
import { createSignInLimits } from '../../accounts/people/sign-in-limits.ts';
import { createSignIns } from '../../accounts/people/sign-ins.ts';
import { systemClock } from '../../platform/clock.ts';
import { createIds } from '../../platform/ids.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';
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
