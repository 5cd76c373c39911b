import { type AccessLimits, type AccessLimitsChange, changeLimits } from '../../accounts/access-limits.ts';
import { isDisconnectPolicy, type KeyDisconnectPolicy } from '../../accounts/disconnect-policy.ts';
import type { StoredApiKey, User } from '../../accounts/api-key.ts';
import { createBillingTokenOperations } from './billing-token-operations.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { decodeLimits } from './decode-limits.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { AccountsStoreOperations } from '../worker/store-protocol.ts';
import { StoreError } from '../store-error.ts';

const selectKeys = `select api_keys.id as id, users.id as user_id, users.name as user_name, api_keys.name as name, api_keys.hash as hash,
    api_keys.hint as hint, api_keys.created_at_ms as created_at_ms, api_keys.disabled_at_ms as disabled_at_ms, api_keys.strict_translation as strict_translation,
    api_keys.response_retention_days as response_retention_days, api_keys.disconnect_policy as disconnect_policy,
    api_keys.limits as limits, users.limits as user_limits
  from api_keys join users on users.id = api_keys.user_id
  where api_keys.deleted_at_ms is null`;

const selectUsers = 'select id, name, created_at_ms, limits from users';

/** The SQL of users, API keys and billing tokens. */
export function createAccountsOperations(database: Database): AccountsStoreOperations {
  return {
    pepper: async () => readText(found(await database.first("select value from settings where name = 'pepper'"), 'the pepper'), 'value'),
    ensureUser: (user) => ensureUser(database, user),
    listUsers: async () => (await database.all(`${selectUsers} order by created_at_ms, id`)).map(decodeUser),
    changeUserLimits: (userName, change) => changeLimitsOf(database, { table: 'users', where: 'name = ?' }, userName, change),
    insertApiKey: (key) => insertApiKey(database, key),
    listApiKeys: async () => (await database.all(`${selectKeys} order by api_keys.created_at_ms, api_keys.id`)).map(decodeApiKey),
    findApiKeyByHash: async (hash) => {
      const row = await database.first(`${selectKeys} and api_keys.hash = ?`, hash);
      return row === undefined ? undefined : decodeApiKey(row);
    },
    setApiKeyDisabled: (keyId, disabledAtMs) => {
      const sql = 'update api_keys set disabled_at_ms = ? where id = ? and deleted_at_ms is null';
      return changeKeys(database, (transaction) => transaction.run(sql, disabledAtMs ?? null, keyId));
    },
    setApiKeyStrictTranslation: (keyId, strictTranslation) => {
      const sql = 'update api_keys set strict_translation = ? where id = ? and deleted_at_ms is null';
      return changeKeys(database, (transaction) => transaction.run(sql, strictTranslation ? 1 : 0, keyId));
    },
    setApiKeyDisconnect: (keyId, policy) => {
      const sql = 'update api_keys set disconnect_policy = ? where id = ? and deleted_at_ms is null';
      return changeKeys(database, (transaction) => transaction.run(sql, policy ?? null, keyId));
    },
    setApiKeyRetention: (keyId, responseRetentionDays) => {
      const sql = 'update api_keys set response_retention_days = ? where id = ? and deleted_at_ms is null';
      return changeKeys(database, (transaction) => transaction.run(sql, responseRetentionDays ?? null, keyId));
    },
    changeApiKeyLimits: (keyId, change) =>
      changeLimitsOf(database, { table: 'api_keys', where: 'id = ? and deleted_at_ms is null' }, keyId, change),
    deleteApiKey: (keyId, deletedAtMs) => {
      const sql = 'update api_keys set deleted_at_ms = ? where id = ? and deleted_at_ms is null';
      return changeKeys(database, (transaction) => transaction.run(sql, deletedAtMs, keyId));
    },
    keysVersion: async () =>
      readInteger(
        found(await database.first("select value from counters where name = 'keys_version'"), 'the version of the keys'),
        'value',
      ),
    ...createBillingTokenOperations(database),
  };
}

async function ensureUser(database: Database, user: User): Promise<User> {
  const sql = 'insert into users (id, name, created_at_ms) values (?, ?, ?) on conflict do nothing';
  return await database.transact(async (transaction) => {
    await transaction.run(sql, user.id, user.name, user.createdAtMs);
    return decodeUser(found(await transaction.first(`${selectUsers} where name = ?`, user.name), 'the user'));
  });
}

async function insertApiKey(database: Database, key: StoredApiKey): Promise<boolean> {
  return await changeKeys(database, (transaction) => {
    const sql = `insert into api_keys (id, user_id, name, hash, hint, created_at_ms, disabled_at_ms, strict_translation, response_retention_days, disconnect_policy, limits)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
    const { id, userId, name, hash, hint, createdAtMs, disabledAtMs, strictTranslation, responseRetentionDays, disconnectPolicy, limits } =
      key;
    const options = [strictTranslation ? 1 : 0, responseRetentionDays ?? null, disconnectPolicy ?? null, encodeLimits(limits)] as const;
    return transaction.run(sql, id, userId, name, hash, hint, createdAtMs, disabledAtMs ?? null, ...options);
  });
}

/** Runs a change of keys and increments the version of the keys in the same transaction if it changed any. */
async function changeKeys(database: Database, change: (transaction: Database) => Promise<number>): Promise<boolean> {
  return await database.transact(async (transaction) => {
    if ((await change(transaction)) === 0) return false;
    await transaction.run("update counters set value = value + 1 where name = 'keys_version'");
    return true;
  });
}

/** Reads, changes and writes limits in one transaction, so that concurrent changes never undo each other. */
async function changeLimitsOf(
  database: Database,
  row: { readonly table: 'users' | 'api_keys'; readonly where: string },
  value: string,
  change: AccessLimitsChange,
): Promise<boolean> {
  return await changeKeys(database, async (transaction) => {
    const before = await transaction.first(`select limits from ${row.table} where ${row.where}`, value);
    if (before === undefined) return 0;
    const limits = changeLimits(decodeLimits(before, 'limits'), change);
    return await transaction.run(`update ${row.table} set limits = ? where ${row.where}`, encodeLimits(limits), value);
  });
}

function encodeLimits(limits: AccessLimits | undefined): string | null {
  return limits === undefined ? null : JSON.stringify(limits);
}

function decodePolicy(row: SqlRow): KeyDisconnectPolicy | undefined {
  const word = readOptionalText(row, 'disconnect_policy');
  if (word === undefined || isDisconnectPolicy(word)) return word;
  throw new StoreError('corrupt', 'Column disconnect_policy is not a known policy.');
}

function found(row: SqlRow | undefined, what: string): SqlRow {
  if (row === undefined) throw new StoreError('corrupt', `The database lacks ${what}.`);
  return row;
}

function decodeApiKey(row: SqlRow): StoredApiKey {
  const disabledAtMs = readOptionalInteger(row, 'disabled_at_ms');
  const responseRetentionDays = readOptionalInteger(row, 'response_retention_days');
  const disconnectPolicy = decodePolicy(row);
  const limits = decodeLimits(row, 'limits');
  const userLimits = decodeLimits(row, 'user_limits');
  return {
    id: readText(row, 'id'),
    userId: readText(row, 'user_id'),
    userName: readText(row, 'user_name'),
    name: readText(row, 'name'),
    hint: readText(row, 'hint'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(disabledAtMs === undefined ? {} : { disabledAtMs }),
    strictTranslation: readInteger(row, 'strict_translation') !== 0,
    ...(responseRetentionDays === undefined ? {} : { responseRetentionDays }),
    ...(disconnectPolicy === undefined ? {} : { disconnectPolicy }),
    ...(limits === undefined ? {} : { limits }),
    ...(userLimits === undefined ? {} : { userLimits }),
    hash: readText(row, 'hash'),
  };
}

function decodeUser(row: SqlRow): User {
  const limits = decodeLimits(row, 'limits');
  const user = { id: readText(row, 'id'), name: readText(row, 'name'), createdAtMs: readInteger(row, 'created_at_ms') };
  return limits === undefined ? user : { ...user, limits };
}
