import type { KeyQuery, KeyStore, ListedApiKey } from '../../accounts/key-store.ts';
import { changeKey, decodeApiKey, selectKeys } from './api-key-row.ts';
import { containsText } from './contains-text.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalInteger } from './read-column.ts';
import { namesIn } from './names-in.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';
import { toStorableText } from '../storable-text.ts';

const selectListed = selectKeys
  .replace('select ', 'select api_key_uses.used_at_ms as used_at_ms, ')
  .replace('where ', 'left join api_key_uses on api_key_uses.key_id = api_keys.id\n  where ');

/** The columns of the expiry of each level. */
const expiries = ['api_keys', 'users', 'teams', 'organization'].map((table) => `${table}.expires_at_ms`);

/** A use is not written if the store has one of this time before it, from any process. */
const usesEveryMs = 60_000;

/** The SQL of lists of keys, of new secrets, and of the last use. */
export function createApiKeyListOperations(database: Database): Omit<KeyStore, 'editApiKey'> {
  return {
    queryApiKeys: (query) => queryApiKeys(database, query),
    countApiKeys: (userName) => countApiKeys(database, userName),
    rotateApiKey: ({ keyId, hash, hint, previousOpensUntilMs }, change) => {
      const sql = `update api_keys set previous_hash = hash, previous_until_ms = ?, hash = ?, hint = ?
        where id = ? and deleted_at_ms is null
          and not exists (select 1 from api_keys as others where others.hash = ? and others.deleted_at_ms is null)`;
      return changeKey(database, keyId, { change, action: 'keys.rotate' }, (transaction) =>
        transaction.run(sql, previousOpensUntilMs, hash, hint, keyId, hash),
      );
    },
    noteApiKeyUses: (keyIds, usedAtMs) => noteApiKeyUses(database, keyIds, usedAtMs),
  };
}

async function queryApiKeys(database: Database, query: KeyQuery): Promise<readonly ListedApiKey[]> {
  if (query.users !== 'all' && query.users.length === 0) return [];
  if (query.ids?.length === 0) return [];
  const isNewest = query.order === 'newest';
  const conditions: readonly Condition[] = [
    ...(query.users === 'all' ? [] : [namesIn('users.name', query.users)]),
    ...(query.ids === undefined ? [] : [namesIn('api_keys.id', query.ids)]),
    ...(query.userName === undefined ? [] : [on('users.name = ?', query.userName)]),
    ...(query.unusedSinceMs === undefined
      ? []
      : [
          // A key is not used before it is made: so the index leaves out younger keys without reading their uses.
          on('api_keys.created_at_ms < ? and coalesce(used_at_ms, api_keys.created_at_ms) < ?', query.unusedSinceMs, query.unusedSinceMs),
        ]),
    ...(query.expiresBeforeMs === undefined
      ? []
      : [on(`(${expiries.map((column) => `${column} < ?`).join(' or ')})`, ...expiries.map(() => query.expiresBeforeMs ?? 0))]),
    ...(query.expiresFromMs === undefined
      ? []
      : expiries.map((column) => on(`coalesce(${column}, ?) >= ?`, query.expiresFromMs ?? 0, query.expiresFromMs ?? 0))),
    ...(query.text === undefined ? [] : [containsText(['api_keys.name', 'users.name', 'api_keys.hint'], query.text)]),
    ...(query.isEnabled === undefined ? [] : [on(`api_keys.disabled_at_ms is ${query.isEnabled ? 'null' : 'not null'}`)]),
    ...(query.after === undefined
      ? []
      : [on(`(api_keys.created_at_ms, api_keys.id) ${isNewest ? '<' : '>'} (?, ?)`, query.after.createdAtMs, query.after.id)]),
  ];
  const direction = isNewest ? 'desc' : 'asc';
  const where = conditions.map(({ sql }) => ` and ${sql}`).join('');
  const sql = `${selectListed}${where} order by api_keys.created_at_ms ${direction}, api_keys.id ${direction} limit ?`;
  return (await database.all(sql, ...conditions.flatMap(({ parameters }) => parameters), query.limit)).map(decodeListed);
}

async function countApiKeys(database: Database, userName: string): Promise<{ readonly all: number; readonly enabled: number }> {
  const sql = `select count(*) as total, count(case when disabled_at_ms is null then 1 end) as enabled from api_keys
    where user_id = (select id from users where name = ?) and deleted_at_ms is null`;
  const row = (await database.first(sql, toStorableText(userName))) ?? {};
  return { all: readInteger(row, 'total'), enabled: readInteger(row, 'enabled') };
}

/** A condition of fixed text, and its parameters. */
type Condition = { readonly sql: string; readonly parameters: readonly SqlParameter[] };

function on(sql: string, ...parameters: readonly SqlParameter[]): Condition {
  return { sql, parameters };
}

function decodeListed(row: SqlRow): ListedApiKey {
  const { hash: _hash, previousHash: _previous, ...key } = decodeApiKey(row);
  const lastUsedAtMs = readOptionalInteger(row, 'used_at_ms');
  return lastUsedAtMs === undefined ? key : { ...key, lastUsedAtMs };
}

/** In the order of the ids, so that processes that note the same keys wait for each other and do not collide. */
async function noteApiKeyUses(database: Database, keyIds: readonly string[], usedAtMs: number): Promise<void> {
  const sql = `insert into api_key_uses (key_id, used_at_ms)
    select id, cast(? as bigint) from api_keys where id = ? and deleted_at_ms is null
    on conflict (key_id) do update set used_at_ms = excluded.used_at_ms
      where api_key_uses.used_at_ms <= excluded.used_at_ms - ${usesEveryMs}`;
  await database.transact(async (transaction) => {
    for (const keyId of keyIds.toSorted()) await transaction.run(sql, usedAtMs, keyId);
  }, 'read-committed');
}
