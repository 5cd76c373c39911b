import type { ArchiveSums } from '../../billing/archive/call-archive.ts';
import { readSums } from '../operations/archive-operations.ts';
import { readBigInt, readInteger, readOptionalInteger, readOptionalText, readText } from '../operations/read-column.ts';
import type { SqlParameter, SqlRow } from '../operations/sql-values.ts';
import { readWide, sumNarrow } from '../operations/wide-amount.ts';
import { StoreError } from '../store-error.ts';

/** Runs a query with `?` for its parameters, on any engine. */
export type Query = (sql: string, parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;

/** What identifies the content of a database at one moment. It is the same for a copy, and changes with any booking. */
export type BackupFigures = {
  /** Schema version. */
  readonly schema: number;
  /** Sixteen hexadecimal digits; undefined in a schema that had no identities yet. */
  readonly databaseId: string | undefined;
  readonly calls: number;
  readonly amountNanoUsd: bigint;
  /** When the newest booked call was accepted; undefined without calls. */
  readonly lastAcceptedAtMs: number | undefined;
  /** Calls that the hourly statistics count, and their amount. They equal those of the ledger's billed calls. */
  readonly billed: { readonly calls: number; readonly amountNanoUsd: bigint };
  readonly statistics: { readonly calls: number; readonly amountNanoUsd: bigint };
};

/** A file in the storage of media that the database refers to. */
export type MediaObject = {
  readonly key: string;
  readonly mediaType: string | undefined;
  readonly bytes: number | undefined;
  readonly sha256: string | undefined;
};

/** The schema version of a database of any version of Weir; 0 if it has no tables of ours. */
export async function readVersion(query: Query, hasTable: (name: string) => Promise<boolean>): Promise<number> {
  if (!(await hasTable('schema_migrations'))) return 0;
  const [row] = await query('select coalesce(max(version), 0) as version from schema_migrations', []);
  return row === undefined ? 0 : readInteger(row, 'version');
}

/** Schema versions from which a table exists. */
const since = { database_identity: 7, pictures: 17, call_archives: 46 } as const;

/** Reads the figures of a database of any version of Weir. All queries must see the same moment. */
export async function readFigures(query: Query, schema: number): Promise<BackupFigures> {
  const identity = schema < since.database_identity ? undefined : (await query('select id from database_identity', []))[0];
  const calls = await first(
    query,
    `select count(*) as calls, coalesce(sum(case when billed = 1 then 1 else 0 end), 0) as billed_calls, max(accepted_at_ms) as last,
      ${sumNarrow('amount_nano_usd', 'amount')}, ${sumNarrow('(case when billed in (1, 2) then amount_nano_usd else 0 end)', 'billed')} from calls`,
  );
  const archived = await readDropped(query, schema);
  const hours = await first(
    query,
    `select coalesce(sum(call_count), 0) as calls, ${sumNarrow('amount_nano_usd', 'amount')} from usage_hours`,
  );
  return {
    schema,
    databaseId: identity === undefined ? undefined : readText(identity, 'id'),
    calls: readInteger(calls, 'calls') + archived.rows,
    amountNanoUsd: readWide(calls, 'amount') + archived.amountNanoUsd,
    lastAcceptedAtMs: readOptionalInteger(calls, 'last'),
    billed: {
      calls: Number(readBigInt(calls, 'billed_calls')) + archived.billedCalls,
      amountNanoUsd: readWide(calls, 'billed') + archived.billedNanoUsd,
    },
    statistics: { calls: readInteger(hours, 'calls'), amountNanoUsd: readWide(hours, 'amount') },
  };
}

/** The sums of the rows that archives have taken out of `calls`. */
async function readDropped(
  query: Query,
  schema: number,
): Promise<Pick<ArchiveSums, 'rows' | 'billedCalls' | 'amountNanoUsd' | 'billedNanoUsd'>> {
  const archives = schema < since.call_archives ? [] : await query('select dropped from call_archives', []);
  const sums = { rows: 0, billedCalls: 0, amountNanoUsd: 0n, billedNanoUsd: 0n };
  for (const row of archives) {
    const dropped = readSums(row, 'dropped');
    sums.rows += dropped.rows;
    sums.billedCalls += dropped.billedCalls;
    sums.amountNanoUsd += dropped.amountNanoUsd;
    sums.billedNanoUsd += dropped.billedNanoUsd;
  }
  return sums;
}

async function first(query: Query, sql: string): Promise<SqlRow> {
  const [row] = await query(sql, []);
  if (row === undefined) throw new StoreError('internal', 'A sum over a table has no row.');
  return row;
}

/** The files of videos and images that the database refers to, videos first, each by its key. */
async function listMedia(query: Query, schema: number): Promise<readonly MediaObject[]> {
  const tables = [
    ...(schema < since.database_identity
      ? []
      : ['select media_key, media_type, media_bytes, media_sha256 from video_tasks where media_key is not null order by media_key']),
    ...(schema < since.pictures ? [] : ['select id as media_key, media_type, media_bytes, media_sha256 from pictures order by id']),
  ];
  const objects: MediaObject[] = [];
  for (const sql of tables)
    for (const row of await query(sql, []))
      objects.push({
        key: readText(row, 'media_key'),
        mediaType: readOptionalText(row, 'media_type'),
        bytes: readOptionalInteger(row, 'media_bytes'),
        sha256: readOptionalText(row, 'media_sha256'),
      });
  return objects;
}

const idsAtOnce = 500;

/** How many of these calls the ledger has. */
async function countBooked(query: Query, callIds: readonly string[]): Promise<number> {
  let booked = 0;
  for (let at = 0; at < callIds.length; at += idsAtOnce) {
    const ids = callIds.slice(at, at + idsAtOnce);
    const [row] = await query(`select count(*) as booked from calls where call_id in (${ids.map(() => '?').join(', ')})`, ids);
    if (row !== undefined) booked += readInteger(row, 'booked');
  }
  return booked;
}

/** What a backup says about the database in it, read at the moment of the copy. */
export type DatabaseContent = { readonly figures: BackupFigures; readonly media: readonly MediaObject[]; readonly journalBooked: number };

/** @param journalCalls calls of the journals in the backup; `journalBooked` says how many of them the ledger has */
export async function readContent(query: Query, schema: number, journalCalls: readonly string[]): Promise<DatabaseContent> {
  return {
    figures: await readFigures(query, schema),
    media: await listMedia(query, schema),
    journalBooked: await countBooked(query, journalCalls),
  };
}
