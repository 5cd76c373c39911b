import type { Change } from '../../audit/change-author.ts';
import type { Expected, PeopleStore, PersonRefusal } from '../../accounts/people/people-store.ts';
import { type Person, type PersonEdit, personNameKey } from '../../accounts/people/person.ts';
import { StoreError } from '../store-error.ts';
import { deleteTokensOfMaker } from './admin-token-operations.ts';
import { appendDifference } from './audit-operations.ts';
import type { Database } from './database.ts';
import { decodePerson, findPerson, personColumns } from './find-person.ts';
import { endKeysWithoutSession } from './playground-key-operations.ts';
import { readOptionalText, readText } from './read-column.ts';
import { deletePrivateViews } from './saved-view-operations.ts';

/** The SQL of people. */
export function createPeopleOperations(database: Database): PeopleStore {
  return {
    insertPerson: (person, change) => insertPerson(database, person, change),
    listPeople: () => listPeople(database),
    findPerson: (reference) => findPerson(database, reference),
    changePerson: (expected, edit, change) => changePerson(database, expected, edit, change),
    deletePerson: (expected, change) => deletePerson(database, expected, change),
    findPasswordHash: async (personId) => {
      const row = await database.first('select password_hash from people where id = ?', personId);
      return row === undefined ? undefined : readOptionalText(row, 'password_hash');
    },
    setPasswordHash: ({ personId, hash, keepSessionId }, change) =>
      database.transact(async (transaction) => {
        const before = await findPerson(transaction, { id: personId });
        if (before === undefined) return false;
        await transaction.run('update people set password_hash = ?, revision = revision + 1 where id = ?', hash ?? null, personId);
        await endSignIns(transaction, personId, change, keepSessionId);
        const action = hash === undefined ? 'people.remove_password' : 'people.set_password';
        await appendPerson(transaction, { change, action }, before, await findPerson(transaction, { id: personId }));
        return true;
      }),
    renewPasswordHash: async ({ personId, previousHash, hash }) => {
      await database.run('update people set password_hash = ? where id = ? and password_hash = ?', hash, personId, previousHash);
    },
  };
}

async function insertPerson(
  database: Database,
  person: Parameters<PeopleStore['insertPerson']>[0],
  change: Change,
): Promise<Person | 'duplicate_name' | 'duplicate_identity'> {
  const sql = `insert into people (id, name, name_key, role, created_at_ms, disabled_at_ms, oidc_issuer, oidc_subject, email, revision)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`;
  const { id, name, role, users, createdAtMs, disabledAtMs, identity, email } = person;
  return await database.transact(async (transaction) => {
    if ((await findPerson(transaction, { name })) !== undefined) return 'duplicate_name';
    if (identity !== undefined && (await findPerson(transaction, { identity })) !== undefined) return 'duplicate_identity';
    const optional = [disabledAtMs ?? null, identity?.issuer ?? null, identity?.subject ?? null, email ?? null] as const;
    await transaction.run(sql, id, name, personNameKey(name), role, createdAtMs, ...optional);
    await writeUsers(transaction, id, users);
    const inserted = await findPerson(transaction, { id });
    if (inserted === undefined) throw new StoreError('corrupt', 'The database lacks the person that was inserted.');
    await appendPerson(transaction, { change, action: 'people.create' }, undefined, inserted);
    return inserted;
  });
}

async function listPeople(database: Database): Promise<readonly Person[]> {
  const owned = new Map<string, string[]>();
  for (const row of await database.all('select person_id, user_name from person_users order by user_name')) {
    const users = owned.getOrInsertComputed(readText(row, 'person_id'), () => []);
    users.push(readText(row, 'user_name'));
  }
  const rows = await database.all(`select ${personColumns} from people order by people.created_at_ms, people.id`);
  return rows.map((row) => decodePerson(row, owned.get(readText(row, 'person_id')) ?? []));
}

async function changePerson(database: Database, expected: Expected, edit: PersonEdit, change: Change): Promise<Person | PersonRefusal> {
  return await database.transact(async (transaction) => {
    const before = await findExpected(transaction, expected);
    if (typeof before === 'string') return before;
    const name = edit.name ?? before.name;
    const namesake = await findPerson(transaction, { name });
    if (namesake !== undefined && namesake.id !== before.id) return 'duplicate_name';
    const role = edit.role ?? before.role;
    const wasDisabledAtMs = before.disabledAtMs;
    const disabledAtMs = edit.disabled === undefined ? wasDisabledAtMs : edit.disabled ? (wasDisabledAtMs ?? change.atMs) : undefined;
    if ((role !== 'operator' || disabledAtMs !== undefined) && (await isLastOperator(transaction, before))) return 'last_operator';
    const email = edit.email === undefined ? before.email : edit.email;
    const sql = 'update people set name = ?, name_key = ?, role = ?, disabled_at_ms = ?, email = ? where id = ?';
    await transaction.run(sql, name, personNameKey(name), role, disabledAtMs ?? null, email ?? null, before.id);
    if (edit.users !== undefined) await writeUsers(transaction, before.id, edit.users);
    if (disabledAtMs !== undefined || role !== before.role) await endSignIns(transaction, before.id, change);
    const unnumbered = await findPerson(transaction, { id: before.id });
    if (JSON.stringify(unnumbered) === JSON.stringify(before)) return before;
    await transaction.run('update people set revision = revision + 1 where id = ?', before.id);
    const after = await findPerson(transaction, { id: before.id });
    await appendPerson(transaction, { change, action: actionOf(edit) }, before, after);
    return after ?? 'unknown';
  });
}

function actionOf(edit: PersonEdit): string {
  const isAlone = Object.values(edit).filter((value) => value !== undefined).length === 1;
  if (edit.disabled === undefined || !isAlone) return 'people.update';
  return edit.disabled ? 'people.disable' : 'people.enable';
}

async function deletePerson(database: Database, expected: Expected, change: Change): Promise<Person | PersonRefusal> {
  return await database.transact(async (transaction) => {
    const before = await findExpected(transaction, expected);
    if (typeof before === 'string') return before;
    if (await isLastOperator(transaction, before)) return 'last_operator';
    await endSignIns(transaction, before.id, change);
    await deleteTokensOfMaker(transaction, before.id, change);
    await deletePrivateViews(transaction, before.id);
    await transaction.run('delete from person_users where person_id = ?', before.id);
    await transaction.run('delete from people where id = ?', before.id);
    await appendPerson(transaction, { change, action: 'people.delete' }, before, undefined);
    return before;
  });
}

async function findExpected(transaction: Database, { id, revision }: Expected): Promise<Person | 'unknown' | 'stale'> {
  const person = await findPerson(transaction, { id });
  if (person === undefined) return 'unknown';
  return revision === undefined || revision === person.revision ? person : 'stale';
}

/** Whether nobody else could administer people. */
async function isLastOperator(transaction: Database, person: Person): Promise<boolean> {
  if (person.role !== 'operator' || person.disabledAtMs !== undefined) return false;
  const sql = "select id from people where role = 'operator' and disabled_at_ms is null and id <> ? limit 1";
  return (await transaction.first(sql, person.id)) === undefined;
}

async function writeUsers(transaction: Database, personId: string, users: readonly string[]): Promise<void> {
  await transaction.run('delete from person_users where person_id = ?', personId);
  for (const user of new Set(users)) await transaction.run('insert into person_users (person_id, user_name) values (?, ?)', personId, user);
}

/** Ends the sessions of a person, except one, and what could open others. */
async function endSignIns(transaction: Database, personId: string, change: Change, keepSessionId = ''): Promise<void> {
  await transaction.run('delete from console_sessions where person_id = ? and id <> ?', personId, keepSessionId);
  await transaction.run('delete from sign_in_codes where person_id = ?', personId);
  await endKeysWithoutSession(transaction, change);
}

async function appendPerson(
  transaction: Database,
  audited: { readonly change: Change; readonly action: string },
  before: Person | undefined,
  after: Person | undefined,
): Promise<void> {
  const subject = `person:${before?.id ?? after?.id ?? ''}`;
  const text = (person: Person | undefined): string | undefined => (person === undefined ? undefined : JSON.stringify(person));
  await appendDifference(transaction, audited, subject, { before: text(before), after: text(after) });
}
