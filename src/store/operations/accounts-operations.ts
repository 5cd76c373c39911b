import { type AccessLimits, type AccessLimitsChange, changeLimits } from '../../accounts/access-limits.ts';
import type { StoredApiKey, User } from '../../accounts/api-key.ts';
import type { Change } from '../../audit/change-author.ts';
import { changeKey, decodeApiKey, newKeysVersion, selectKeys, setColumn } from './api-key-row.ts';
import { createApiKeyListOperations } from './api-key-list-operations.ts';
import { appendAudit, appendDifference } from './audit-operations.ts';
import { createBillingTokenOperations } from './billing-token-operations.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { decodeLimits } from './decode-limits.ts';
import { readInteger, readText } from './read-column.ts';
import type { AccountsStoreOperations } from '../worker/store-protocol.ts';
import { StoreError } from '../store-error.ts';

const selectUsers = 'select id, name, created_at_ms, limits from users';

/** The SQL of users, API keys and billing tokens. */
export function createAccountsOperations(database: Database): AccountsStoreOperations {
  return {
    pepper: async () => readText(found(await database.first("select value from settings where name = 'pepper'"), 'the pepper'), 'value'),
    ensureUser: (user, change) => ensureUser(database, user, change),
    listUsers: async () => (await database.all(`${selectUsers} order by created_at_ms, id`)).map(decodeUser),
    changeUserLimits: (userName, limits, change) => changeUserLimits(database, userName, limits, change),
    insertApiKey: (key, change) => insertApiKey(database, key, change),
    listApiKeys: async () => (await database.all(`${selectKeys} order by api_keys.created_at_ms, api_keys.id`)).map(decodeApiKey),
    findApiKeyByHash: async (hash) => {
      const present = await database.first(`${selectKeys} and api_keys.hash = ?`, hash);
      const row = present ?? (await database.first(`${selectKeys} and api_keys.previous_hash = ?`, hash));
      return row === undefined ? undefined : decodeApiKey(row);
    },
    setApiKeyDisabled: (keyId, disabledAtMs, change) => {
      const action = disabledAtMs === undefined ? 'keys.enable' : 'keys.disable';
      return changeKey(database, keyId, { change, action }, setColumn('disabled_at_ms', keyId, disabledAtMs ?? null));
    },
    setApiKeyStrictTranslation: (keyId, strictTranslation, change) =>
      changeKey(database, keyId, { change, action: 'keys.update' }, setColumn('strict_translation', keyId, strictTranslation ? 1 : 0)),
    setApiKeyDisconnect: (keyId, policy, change) =>
      changeKey(database, keyId, { change, action: 'keys.update' }, setColumn('disconnect_policy', keyId, policy ?? null)),
    setApiKeyRetention: (keyId, responseRetentionDays, change) =>
      changeKey(
        database,
        keyId,
        { change, action: 'keys.update' },
        setColumn('response_retention_days', keyId, responseRetentionDays ?? null),
      ),
    changeApiKeyLimits: (keyId, limits, change) =>
      changeKey(database, keyId, { change, action: 'keys.update' }, (transaction) =>
        changeLimitsOf(transaction, { table: 'api_keys', where: 'id = ? and deleted_at_ms is null' }, keyId, limits),
      ),
    deleteApiKey: (keyId, change) =>
      changeKey(database, keyId, { change, action: 'keys.delete' }, setColumn('deleted_at_ms', keyId, change.atMs)),
    keysVersion: async () =>
      readInteger(
        found(await database.first("select value from counters where name = 'keys_version'"), 'the version of the keys'),
        'value',
      ),
    ...createApiKeyListOperations(database),
    ...createBillingTokenOperations(database),
  };
}

async function ensureUser(database: Database, user: User, change: Change): Promise<User> {
  const sql = 'insert into users (id, name, created_at_ms) values (?, ?, ?) on conflict do nothing';
  return await database.transact(async (transaction) => {
    const inserted = await transaction.run(sql, user.id, user.name, user.createdAtMs);
    const stored = found(await readUser(transaction, user.name), 'the user');
    if (inserted > 0)
      await appendAudit(transaction, change, { action: 'users.create', subject: `user:${user.name}`, after: JSON.stringify(stored) });
    return stored;
  });
}

async function readUser(database: Database, name: string): Promise<User | undefined> {
  const row = await database.first(`${selectUsers} where name = ?`, name);
  return row === undefined ? undefined : decodeUser(row);
}

async function insertApiKey(database: Database, key: StoredApiKey, change: Change): Promise<boolean> {
  return await changeKey(database, key.id, { change, action: 'keys.create' }, (transaction) => {
    const sql = `insert into api_keys (id, user_id, name, hash, hint, created_at_ms, disabled_at_ms, strict_translation, response_retention_days, disconnect_policy, limits, expires_at_ms)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
    const { id, userId, name, hash, hint, createdAtMs, disabledAtMs, strictTranslation, responseRetentionDays, disconnectPolicy, limits } =
      key;
    const options = [strictTranslation ? 1 : 0, responseRetentionDays ?? null, disconnectPolicy ?? null, ...limitValues(limits)] as const;
    return transaction.run(sql, id, userId, name, hash, hint, createdAtMs, disabledAtMs ?? null, ...options);
  });
}

async function changeUserLimits(database: Database, userName: string, limits: AccessLimitsChange, change: Change): Promise<boolean> {
  return await database.transact(async (transaction) => {
    const before = await readUser(transaction, userName);
    if (before === undefined) return false;
    await changeLimitsOf(transaction, { table: 'users', where: 'name = ?' }, userName, limits);
    await newKeysVersion(transaction);
    const after = await readUser(transaction, userName);
    const texts = { before: JSON.stringify(before), after: JSON.stringify(after) };
    await appendDifference(transaction, { change, action: 'users.update' }, `user:${userName}`, texts);
    return true;
  });
}

/** Reads, changes and writes limits, within a transaction, so that concurrent changes never undo each other. */
async function changeLimitsOf(
  transaction: Database,
  row: { readonly table: 'users' | 'api_keys'; readonly where: string },
  value: string,
  change: AccessLimitsChange,
): Promise<number> {
  const before = await transaction.first(`select limits from ${row.table} where ${row.where}`, value);
  if (before === undefined) return 0;
  const limits = changeLimits(decodeLimits(before, 'limits'), change);
  return await transaction.run(`update ${row.table} set limits = ?, expires_at_ms = ? where ${row.where}`, ...limitValues(limits), value);
}

/** Limits as their columns have them. The expiry has a column of its own, so that lists can select by it. */
function limitValues(limits: AccessLimits | undefined): readonly [string | null, number | null] {
  return [limits === undefined ? null : JSON.stringify(limits), limits?.expiresAtMs ?? null];
}

function found<Value>(row: Value | undefined, what: string): Value {
  if (row === undefined) throw new StoreError('corrupt', `The database lacks ${what}.`);
  return row;
}

function decodeUser(row: SqlRow): User {
  const limits = decodeLimits(row, 'limits');
  const user = { id: readText(row, 'id'), name: readText(row, 'name'), createdAtMs: readInteger(row, 'created_at_ms') };
  return limits === undefined ? user : { ...user, limits };
}
