import type { ListedRefusal, Refusal, RefusalFilter, RefusalStore } from '../../audit/refusals/refusal.ts';
import type { Database } from './database.ts';
import { namesIn } from './names-in.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';

const columns = 'at_ms, code, status, message, key_id, user_name, key_name, address, interface, path, request_id, model';

/** The SQL of the refusal log. */
export function createRefusalOperations(database: Database): RefusalStore {
  return {
    addRefusals: async (refusals) => {
      const sql = `insert into refusals (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
      await database.transact(async (transaction) => {
        for (const refusal of refusals) await transaction.run(sql, ...valuesOf(refusal));
      }, 'read-committed');
    },
    listRefusals: (filter) => listRefusals(database, filter),
    sweepRefusals: async ({ beforeMs, rowsMax, atOnce }) => {
      // One statement for each bound: an index finds the rows of one, and no index finds those of either.
      const old = await database.run(
        'delete from refusals where sequence in (select sequence from refusals where at_ms < ? order by at_ms limit ?)',
        beforeMs,
        atOnce,
      );
      if (old >= atOnce) return old;
      const surplus = await database.run(
        `delete from refusals where sequence in (
          select sequence from refusals
          where sequence <= (select coalesce(max(sequence), 0) from refusals) - cast(? as bigint) order by sequence limit ?)`,
        rowsMax,
        atOnce - old,
      );
      return old + surplus;
    },
  };
}

function valuesOf(refusal: Refusal): readonly SqlParameter[] {
  const { atMs, code, status, message, keyId, userName, keyName, address, path, requestId, model } = refusal;
  const caller = [keyId ?? null, userName ?? null, keyName ?? null, address ?? null];
  return [atMs, code, status, message, ...caller, refusal.interface, path, requestId, model ?? null];
}

async function listRefusals(database: Database, filter: RefusalFilter): Promise<readonly ListedRefusal[]> {
  if (filter.users !== 'all' && filter.users.length === 0) return [];
  const scope = filter.users === 'all' ? undefined : namesIn('user_name', filter.users);
  const conditions: readonly (readonly [string, SqlParameter | undefined])[] = [
    ['user_name = ?', filter.userName],
    ['key_id = ?', filter.keyId],
    ['code = ?', filter.code],
    ['status = ?', filter.status],
    ['request_id = ?', filter.requestId],
    ['at_ms >= ?', filter.fromMs],
    ['at_ms < ?', filter.toMs],
    ['sequence < ?', filter.before],
  ];
  const chosen = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, parameters: [value] }]));
  const all = scope === undefined ? chosen : [scope, ...chosen];
  const where = all.length === 0 ? '' : `where ${all.map(({ sql }) => sql).join(' and ')}`;
  const sql = `select sequence, ${columns} from refusals ${where} order by sequence desc limit ?`;
  return (await database.all(sql, ...all.flatMap(({ parameters }) => parameters), filter.limit)).map(decodeRefusal);
}

function decodeRefusal(row: SqlRow): ListedRefusal {
  const optional = {
    keyId: 'key_id',
    userName: 'user_name',
    keyName: 'key_name',
    address: 'address',
    model: 'model',
  } as const;
  const present = Object.entries(optional).flatMap(([name, column]) => {
    const text = readOptionalText(row, column);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    sequence: readInteger(row, 'sequence'),
    atMs: readInteger(row, 'at_ms'),
    code: readText(row, 'code'),
    status: readInteger(row, 'status'),
    message: readText(row, 'message'),
    ...Object.fromEntries(present),
    interface: readText(row, 'interface'),
    path: readText(row, 'path'),
    requestId: readText(row, 'request_id'),
  };
}
