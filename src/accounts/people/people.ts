import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AccountsStore } from '../accounts-store.ts';
import { parseName } from '../parse-name.ts';
import { PeopleError } from './people-error.ts';
import type { Expected, PeopleStore, PersonReference, PersonRefusal } from './people-store.ts';
import type { OidcIdentity, Person, PersonEdit } from './person.ts';
import type { Role } from './permissions.ts';

/** A person to make. */
type NewPerson = {
  readonly name: string;
  readonly role: Role;
  /** Names of users that exist. */
  readonly users?: readonly string[];
  readonly email?: string | undefined;
};

/**
 * Manages the people who administer Weir. Methods reject with AccountsError `invalid_name` or PeopleError for a mistake
 * of the caller, and with the store's error. Each change is a row of the audit log.
 */
export type People = {
  /** All people, oldest first. */
  readonly list: () => Promise<readonly Person[]>;
  readonly find: (reference: PersonReference) => Promise<Person | undefined>;
  /**
   * Makes a person, who signs in by a link at first.
   * @param makerId the person who makes it, who needs a password or an OIDC identity first, unless passwords are off;
   *   undefined for a local command
   */
  readonly create: (person: NewPerson, author: ChangeAuthor, makerId?: string) => Promise<Person>;
  /**
   * Makes a person with an OIDC identity. If another person has the name, it gets a number. Undefined if another person
   * has the identity.
   */
  readonly createOfIdentity: (person: NewPerson & { readonly identity: OidcIdentity }, author: ChangeAuthor) => Promise<Person | undefined>;
  /** Undefined if there is no such person. A new role, and disabling, end the person's sessions in every process. */
  readonly change: (expected: Expected, edit: PersonEdit, author: ChangeAuthor) => Promise<Person | undefined>;
  /** Removes a person, and the sessions and admin tokens of the person. Undefined if there is no such person. */
  readonly remove: (expected: Expected, author: ChangeAuthor) => Promise<Person | undefined>;
  /** The users with some names, and those that are in teams with some names. Unknown names are left out. */
  readonly claimedUsers: (claimed: {
    readonly users?: readonly string[];
    readonly teams?: readonly string[];
  }) => Promise<readonly string[]>;
  /** The oldest enabled operator. Makes one named `operator` if no enabled operator exists. */
  readonly ensureOperator: (author: ChangeAuthor) => Promise<Person>;
};

export type PeopleDependencies = {
  readonly store: PeopleStore & Pick<AccountsStore, 'listUsers'>;
  readonly clock: Clock;
  /** Makes ids with a prefix, as createIds does. */
  readonly ids: (prefix: string) => string;
  /** Whether people may have passwords. Default true. */
  readonly passwords?: boolean;
};

const emailLengthMax = 254;
/** The most users that one person owns. */
const usersMax = 1000;
/** How often a name that others take at the same moment is tried with the next number. */
const attemptsMax = 100;

export function createPeople(dependencies: PeopleDependencies): People {
  const { store, clock, passwords = true } = dependencies;
  return {
    list: () => store.listPeople(),
    find: (reference) => store.findPerson(reference),
    create: async (person, author, makerId) => {
      if (makerId !== undefined && passwords) await requireWayIn(store, makerId);
      const checked = await checkPerson(store, person);
      const inserted = await insert(dependencies, checked, author);
      if (typeof inserted === 'string') throw duplicateName(checked.name);
      return inserted;
    },
    createOfIdentity: (person, author) => createOfIdentity(dependencies, person, author),
    change: async (expected, edit, author) => {
      const name = edit.name === undefined ? undefined : parseName('name', edit.name);
      const users = edit.users === undefined ? undefined : await checkUsers(store, edit.users);
      if (typeof edit.email === 'string') checkEmail(edit.email);
      const checked = { ...edit, ...(name === undefined ? {} : { name }), ...(users === undefined ? {} : { users }) };
      return outcomeOf(await store.changePerson(expected, checked, { ...author, atMs: clock.nowMs() }), name);
    },
    remove: async (expected, author) => outcomeOf(await store.deletePerson(expected, { ...author, atMs: clock.nowMs() })),
    claimedUsers: async ({ users = [], teams = [] }) => {
      const wanted = new Set(users.map((name) => name.normalize('NFC')));
      const wantedTeams = new Set(teams.map((name) => name.normalize('NFC')));
      const found = (await store.listUsers()).filter(({ name, team }) => wanted.has(name) || (team !== undefined && wantedTeams.has(team)));
      return found.map(({ name }) => name).slice(0, usersMax);
    },
    ensureOperator: (author) => ensureOperator(dependencies, author),
  };
}

type CheckedPerson = NewPerson & { readonly users: readonly string[]; readonly identity?: OidcIdentity };

async function checkPerson(store: PeopleDependencies['store'], person: NewPerson): Promise<CheckedPerson> {
  if (person.email !== undefined) checkEmail(person.email);
  return { ...person, name: parseName('name', person.name), users: await checkUsers(store, person.users ?? []) };
}

async function insert({ store, clock, ids }: PeopleDependencies, person: CheckedPerson, author: ChangeAuthor) {
  const { name, role, users, email, identity } = person;
  const atMs = clock.nowMs();
  const optional = { ...(email === undefined ? {} : { email }), ...(identity === undefined ? {} : { identity }) };
  return await store.insertPerson({ id: ids('per'), name, role, users, createdAtMs: atMs, ...optional }, { ...author, atMs });
}

async function createOfIdentity(
  dependencies: PeopleDependencies,
  person: NewPerson & { readonly identity: OidcIdentity },
  author: ChangeAuthor,
): Promise<Person | undefined> {
  const users = (person.users ?? []).map((name) => parseName('user name', name)).slice(0, usersMax);
  const checked = { ...person, name: parseName('name', person.name), users };
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const name = attempt === 1 ? checked.name : `${checked.name.slice(0, 60)}-${attempt}`;
    const inserted = await insert(dependencies, { ...checked, name }, author);
    if (inserted === 'duplicate_identity') return undefined;
    if (inserted !== 'duplicate_name') return inserted;
  }
  throw duplicateName(checked.name);
}

async function ensureOperator(dependencies: PeopleDependencies, author: ChangeAuthor): Promise<Person> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const people = await dependencies.store.listPeople();
    const operator = people.find(({ role, disabledAtMs }) => role === 'operator' && disabledAtMs === undefined);
    if (operator !== undefined) return operator;
    const name = attempt === 1 ? 'operator' : `operator-${attempt}`;
    // If another process makes it at this moment, the next turn finds it.
    const inserted = await insert(dependencies, { name, role: 'operator', users: [] }, author);
    if (typeof inserted !== 'string') return inserted;
  }
  throw duplicateName('operator');
}

/** A console with several people must not depend on links alone. */
async function requireWayIn(store: PeopleStore, makerId: string): Promise<void> {
  const maker = await store.findPerson({ id: makerId });
  if (maker === undefined || maker.hasPassword || maker.identity !== undefined) return;
  throw new PeopleError('password_needed', 'Set a password of your own before you make another person.');
}

async function checkUsers(store: Pick<AccountsStore, 'listUsers'>, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  if (names.length > usersMax) throw new PeopleError('unknown_user', `A person owns at most ${usersMax} users; got ${names.length}.`);
  const known = new Set((await store.listUsers()).map(({ name }) => name));
  const composed = names.map((name) => name.normalize('NFC'));
  const unknown = composed.find((name) => !known.has(name));
  if (unknown === undefined) return composed;
  throw new PeopleError(
    'unknown_user',
    `There is no user "${unknown.slice(0, 64)}"; weir users list shows them, and weir keys create makes them.`,
  );
}

function checkEmail(email: string): void {
  if (email.length <= emailLengthMax && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) return;
  throw new PeopleError('invalid_email', `The e-mail address must have the form name@host and at most ${emailLengthMax} characters.`);
}

function outcomeOf(outcome: Person | PersonRefusal, name = ''): Person | undefined {
  if (typeof outcome !== 'string') return outcome;
  if (outcome === 'unknown') return undefined;
  if (outcome === 'duplicate_name') throw duplicateName(name);
  if (outcome === 'stale') throw new PeopleError('stale', 'Somebody changed this person meanwhile; read it again.');
  throw new PeopleError(
    'last_operator',
    'This is the last operator who can sign in; give somebody else the role operator before you remove, disable or demote it.',
  );
}

function duplicateName(name: string): PeopleError {
  return new PeopleError('duplicate_name', `There is already a person named ${name}; names are compared without regard to case.`);
}
