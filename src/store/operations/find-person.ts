import { isRole } from '../../accounts/people/permissions.ts';
import type { PersonReference } from '../../accounts/people/people-store.ts';
import { type Person, personNameKey } from '../../accounts/people/person.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

/** The columns of a person for decodePerson, in a query whose table `people` has no other name. */
export const personColumns = `people.id as person_id, people.name as person_name, people.role as person_role,
  people.created_at_ms as person_created_at_ms, people.disabled_at_ms as person_disabled_at_ms,
  case when people.password_hash is null then 0 else 1 end as person_has_password, people.oidc_issuer as person_issuer,
  people.oidc_subject as person_subject, people.email as person_email, people.revision as person_revision`;

/** Reads one person, in or outside of a transaction. */
export async function findPerson(database: Database, reference: PersonReference): Promise<Person | undefined> {
  const row = await firstPerson(database, reference);
  if (row === undefined) return undefined;
  const owned = await database.all('select user_name from person_users where person_id = ?', readText(row, 'person_id'));
  return decodePerson(
    row,
    owned.map((user) => readText(user, 'user_name')),
  );
}

async function firstPerson(database: Database, reference: PersonReference): Promise<SqlRow | undefined> {
  const select = `select ${personColumns} from people where`;
  if ('id' in reference) return await database.first(`${select} people.id = ?`, reference.id);
  if ('name' in reference) return await database.first(`${select} people.name_key = ?`, personNameKey(reference.name));
  const { issuer, subject } = reference.identity;
  return await database.first(`${select} people.oidc_issuer = ? and people.oidc_subject = ?`, issuer, subject);
}

/** A person of a row with `personColumns`. */
export function decodePerson(row: SqlRow, users: readonly string[]): Person {
  const role = readText(row, 'person_role');
  if (!isRole(role)) throw new StoreError('corrupt', `Column role of people must be a role; got ${role}.`);
  const disabledAtMs = readOptionalInteger(row, 'person_disabled_at_ms');
  const issuer = readOptionalText(row, 'person_issuer');
  const subject = readOptionalText(row, 'person_subject');
  const email = readOptionalText(row, 'person_email');
  return {
    id: readText(row, 'person_id'),
    name: readText(row, 'person_name'),
    role,
    users: users.toSorted(),
    createdAtMs: readInteger(row, 'person_created_at_ms'),
    ...(disabledAtMs === undefined ? {} : { disabledAtMs }),
    hasPassword: readInteger(row, 'person_has_password') === 1,
    ...(issuer === undefined || subject === undefined ? {} : { identity: { issuer, subject } }),
    ...(email === undefined ? {} : { email }),
    revision: readInteger(row, 'person_revision'),
  };
}
