import type { AccessLimitsChange } from '../../accounts/access-limits.ts';
import type { KeyPage } from '../../accounts/accounts-store.ts';
import type { StoredApiKey, User } from '../../accounts/api-key.ts';
import type { Change } from '../../audit/change-author.ts';
import { changeKey, decodeApiKey, encodeTags, newKeysVersion, selectKeys, setColumn } from './api-key-row.ts';
import { createApiKeyListOperations } from './api-key-list-operations.ts';
import { appendAudit, appendDifference } from './audit-operations.ts';
import { createBillingTokenOperations } from './billing-token-operations.ts';
import type { Database } from './database.ts';
import { changeLimitsOf, createTeamOperations, limitValues, queryUsers, readUser, readUsers } from './team-operations.ts';
import type { KeyEdit } from '../../accounts/key-store.ts';
import type { SqlParameter } from './sql-values.ts';
import { readInteger, readText } from './read-column.ts';
import type { AccountsStoreOperations } from '../worker/store-protocol.ts';
import { StoreError } from '../store-error.ts';

/** The SQL of users, API keys and billing tokens. */
export function createAccountsOperations(database: Database): AccountsStoreOperations {
  return {
    pepper: async () => readText(found(await database.first("select value from settings where name = 'pepper'"), 'the pepper'), 'value'),
    ensureUser: (user, change) => ensureUser(database, user, change),
    listUsers: () => readUsers(database),
    queryUsers: (query) => queryUsers(database, query),
    changeUserLimits: (userName, limits, change) => changeUserLimits(database, userName, limits, change),
    insertApiKey: (key, change) => insertApiKey(database, key, change),
    listApiKeys: (page) => listApiKeys(database, page),
    listLimitedApiKeys: async () => (await database.all(`${selectKeys} and api_keys.limits is not null ${oldestFirst}`)).map(decodeApiKey),
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
      changeKey(database, keyId, { change, action: 'keys.update' }, (transaction) => changeLimitsOf(transaction, liveKey, keyId, limits)),
    setApiKeyTags: (keyId, tags, change) =>
      changeKey(database, keyId, { change, action: 'keys.update' }, setColumn('tags', keyId, encodeTags(tags))),
    deleteApiKey: (keyId, change) =>
      changeKey(database, keyId, { change, action: 'keys.delete' }, setColumn('deleted_at_ms', keyId, change.atMs)),
    keysVersion: async () =>
      readInteger(
        found(await database.first("select value from counters where name = 'keys_version'"), 'the version of the keys'),
        'value',
      ),
    editApiKey: (keyId, edit, change) =>
      changeKey(database, keyId, { change, action: 'keys.update' }, (transaction) => editKey(transaction, keyId, edit)),
    ...createApiKeyListOperations(database),
    ...createTeamOperations(database),
    ...createBillingTokenOperations(database),
  };
}

const oldestFirst = 'order by api_keys.created_at_ms, api_keys.id';

async function listApiKeys(database: Database, page: KeyPage | undefined): Promise<readonly StoredApiKey[]> {
  const [after, follows] =
    page?.after === undefined ? [[], ''] : [[page.after.createdAtMs, page.after.id], 'and (api_keys.created_at_ms, api_keys.id) > (?, ?)'];
  const [limit, atMost] = page === undefined ? [[], ''] : [[page.limit], 'limit ?'];
  return (await database.all(`${selectKeys} ${follows} ${oldestFirst} ${atMost}`, ...after, ...limit)).map(decodeApiKey);
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

async function insertApiKey(database: Database, key: StoredApiKey, change: Change): Promise<boolean> {
  return await changeKey(database, key.id, { change, action: 'keys.create' }, (transaction) => {
    const sql = `insert into api_keys (id, user_id, name, hash, hint, created_at_ms, disabled_at_ms, strict_translation, response_retention_days, disconnect_policy, limits, expires_at_ms, tags, content)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
    const { id, userId, name, hash, hint, createdAtMs, disabledAtMs, strictTranslation, responseRetentionDays } = key;
    const written = [...limitValues(key.limits), encodeTags(key.tags), key.content ?? null] as const;
    const options = [strictTranslation ? 1 : 0, responseRetentionDays ?? null, key.disconnectPolicy ?? null, ...written] as const;
    return transaction.run(sql, id, userId, name, hash, hint, createdAtMs, disabledAtMs ?? null, ...options);
  });
}

/** Returns the number of keys that were found. */
async function editKey(transaction: Database, keyId: string, edit: KeyEdit): Promise<number> {
  const columns: readonly (readonly [string, SqlParameter | undefined])[] = [
    ['disabled_at_ms', edit.disabledAtMs],
    ['strict_translation', edit.strictTranslation === undefined ? undefined : edit.strictTranslation ? 1 : 0],
    ['response_retention_days', edit.responseRetentionDays],
    ['disconnect_policy', edit.disconnectPolicy],
    ['content', edit.content],
    ['tags', edit.tags === undefined ? undefined : encodeTags(edit.tags)],
  ];
  let found = await changeLimitsOf(transaction, liveKey, keyId, edit.limits ?? {});
  for (const [column, value] of columns) if (value !== undefined) found = await setColumn(column, keyId, value)(transaction);
  return found;
}

const liveKey = { table: 'api_keys', where: 'id = ? and deleted_at_ms is null' } as const;

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

function found<Value>(row: Value | undefined, what: string): Value {
  if (row === undefined) throw new StoreError('corrupt', `The database lacks ${what}.`);
  return row;
}
