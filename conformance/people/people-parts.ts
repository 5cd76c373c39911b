import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import assert from 'node:assert/strict';

import { createAccounts } from '../../src/accounts/create-accounts.ts';
import { createAdminTokens } from '../../src/accounts/people/admin-tokens.ts';
import { createKeySessions } from '../../src/accounts/people/keys/key-sessions.ts';
import { keySignInWays } from '../../src/accounts/people/keys/key-session.ts';
import { createPasswords } from '../../src/accounts/people/passwords.ts';
import { createPeople } from '../../src/accounts/people/people.ts';
import { type RoleSettings, roleSettingsDefault } from '../../src/accounts/people/permissions-of.ts';
import { createPrincipals } from '../../src/accounts/people/principals.ts';
import { createSessions } from '../../src/accounts/people/sessions.ts';
import { createSignInLimits } from '../../src/accounts/people/sign-in-limits.ts';
import { createSignIns } from '../../src/accounts/people/sign-ins.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createIds } from '../../src/platform/ids.ts';
import { silentLogger } from '../../src/platform/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';

export const author = { actor: 'cli:test', via: 'cli' } as const;
export const hourMs = 3_600_000;

/** Everything that signs people in, on one store, as one process has it. */
function assemblePeople(store: Store, clock: Clock, settings: () => RoleSettings = () => roleSettingsDefault) {
  const ids = createIds(clock);
  const shared = { store, clock, random: randomBytes, ids };
  const sessions = createSessions(shared);
  const keySessions = createKeySessions({ ...shared, limits: createSignInLimits(clock), ways: keySignInWays, settings });
  return {
    store,
    sessions,
    people: createPeople(shared),
    signIns: createSignIns({ ...shared, sessions, passwords: createPasswords(randomBytes), limits: createSignInLimits(clock) }),
    tokens: createAdminTokens(shared),
    keySessions,
    principals: createPrincipals({ sessions, keySessions, store, clock, logger: silentLogger, settings }),
    accounts: createAccounts({ ...shared, author }),
  };
}

export type PeopleParts = ReturnType<typeof assemblePeople> & {
  readonly clock: Clock & { readonly advance: (ms: number) => void };
  /** The same parts of another process on the same database. */
  readonly another: ReturnType<typeof assemblePeople>;
  /** The settings of roles; a test that changes them restores them. */
  readonly settings: { current: RoleSettings };
};

/** A clock that moves only by `advance`. */
function createHandClock(): PeopleParts['clock'] {
  let passedMs = 0;
  const startMs = Date.UTC(2026, 10, 26);
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    advance: (ms) => {
      passedMs += ms;
    },
  };
}

/** Two processes on one new database, for the tests of a file. */
export function usePeople(): () => PeopleParts {
  let parts: PeopleParts | undefined;
  const opened = new AsyncDisposableStack();
  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'weir-people-'));
    opened.defer(() => rm(directory, { recursive: true, force: true }));
    const path = join(directory, 'weir.db');
    const [store, other] = [await openSqliteStore({ path }), await openSqliteStore({ path })];
    opened.defer(() => store.close());
    opened.defer(() => other.close());
    const clock = createHandClock();
    const settings = { current: roleSettingsDefault };
    const current = (): RoleSettings => settings.current;
    parts = { ...assemblePeople(store, clock, current), another: assemblePeople(other, clock, current), clock, settings };
    // So that other operators of the tests are not the last one.
    await parts.people.create({ name: 'keeper', role: 'operator' }, author);
  });
  after(() => opened.disposeAsync());
  return () => parts ?? assert.fail('the store is not open');
}

/** Signs a person in by a link. */
export async function signInByLink({ signIns }: Pick<PeopleParts, 'signIns'>, personId: string) {
  const code = (await signIns.createCode(personId, author)) ?? assert.fail('no such person');
  const opened = await signIns.byCode(code.code, {});
  return opened === 'refused' ? assert.fail('the link was refused') : opened;
}
