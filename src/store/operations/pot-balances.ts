import type { AccessLimits } from '../../accounts/access-limits.ts';
import { accountIdOf, type Pot, type PotOwner, periodStartMs, spanEndMs, spendLimitOf } from '../../billing/credits/pots.ts';
import type { KeyOfUser } from '../../billing/credits/credit-books.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database } from './database.ts';
import { decodeLimits } from './decode-limits.ts';
import { inParts, perRows, valuesOf } from './in-parts.ts';
import { readText } from './read-column.ts';
import type { SqlValue } from './sql-values.ts';
import { readWide, sumNarrow, sumWide } from './wide-amount.ts';

/** The most that a node can lease, so that leases stay within 64 bits. */
const leasableMax = 1_000_000_000_000_000_000n;

/** Limit and spend of a pot without its leases. Amounts are nano-USD. */
export type PotBalances = { readonly limit: bigint | undefined; readonly spent: bigint; readonly videos: bigint };

/**
 * Reads limits and spend of pots. They cannot change during a transaction that has locked the accounts of the pots'
 * owners.
 */
export async function readPotBalances(database: Database, pots: readonly Pot[]): Promise<readonly PotBalances[]> {
  const read = new Map<string, AccessLimits | undefined>();
  const balances: PotBalances[] = [];
  for (const pot of pots) {
    const { name, sql, value } = limitsOf(pot);
    if (!read.has(name)) read.set(name, await readLimits(database, sql, value));
    balances.push(await readPotBalance(database, pot, read.get(name)));
  }
  return balances;
}

/** The statement that reads the limits of a pot, and a name for them. */
function limitsOf(pot: Pot): { readonly name: string; readonly sql: string; readonly value: SqlValue } {
  if (pot.kind === 'spend' && pot.keyId !== undefined)
    return { name: `key:${pot.keyId}`, sql: 'select limits from api_keys where id = ? and deleted_at_ms is null', value: pot.keyId };
  const { owner } = pot;
  const name = accountIdOf(owner);
  if (owner.level === 'user') return { name, sql: 'select limits from users where name = ?', value: owner.userName };
  if (owner.level === 'team') return { name, sql: 'select limits from teams where id = ? and deleted_at_ms is null', value: owner.teamId };
  return { name, sql: 'select limits from organization where id = ?', value: 1 };
}

async function readLimits(database: Database, sql: string, value: SqlValue): Promise<AccessLimits | undefined> {
  const row = await database.first(sql, value);
  return row === undefined ? undefined : decodeLimits(row, 'limits');
}

async function readPotBalance(database: Database, pot: Pot, limits: AccessLimits | undefined): Promise<PotBalances> {
  const videos = await readVideos(database, pot);
  if (pot.kind === 'spend') return { limit: spendLimitOf(pot, limits), spent: await readSpent(database, pot), videos };
  const balance = limits?.prepaid === true ? await readBalance(database, pot.owner) : undefined;
  return { limit: balance === undefined || balance < leasableMax ? balance : leasableMax, spent: 0n, videos };
}

/** The balance of an owner's account: 0 without postings. */
export async function readBalance(database: Database, owner: PotOwner): Promise<bigint> {
  const row = await database.first('select balance_kusd, balance_nano from ledger_accounts where account_id = ?', accountIdOf(owner));
  return row === undefined ? 0n : readWide(row, 'balance');
}

async function readSpent(database: Database, { owner, span, keyId }: Extract<Pot, { kind: 'spend' }>): Promise<bigint> {
  if (owner.level !== 'user') {
    const sql = 'select spent_kusd, spent_nano from group_spend where account_id = ? and period = ?';
    const row = await database.first(sql, accountIdOf(owner), span);
    return row === undefined ? 0n : readWide(row, 'spent');
  }
  const sql = `select ${sumWide('spent', 'spent')} from spend_periods where user_name = ? and period = ?`;
  const row =
    keyId === undefined
      ? await database.first(sql, owner.userName, span)
      : await database.first(`${sql} and key_id = ?`, owner.userName, span, keyId);
  return row === undefined ? 0n : readWide(row, 'spent');
}

const keySpend = perRows(
  (rows) => `select spend_periods.key_id as key_id, spent_kusd, spent_nano
    from (${valuesOf('(cast(? as text), cast(? as text))', rows)}) as wanted
    join spend_periods on spend_periods.user_name = wanted.column1 and spend_periods.key_id = wanted.column2
    where spend_periods.period = ?`,
);

/** What keys have spent in one period, with a statement for many of them. */
export async function readKeySpend(database: Database, keys: readonly KeyOfUser[], span: string): Promise<ReadonlyMap<string, bigint>> {
  const spent = new Map<string, bigint>();
  for (const part of inParts(keys, database.fragments.sumsPerInsert)) {
    const values = part.flatMap(({ userName, keyId }) => [toStorableText(userName), keyId]);
    for (const row of await database.all(keySpend(part.length), ...values, span))
      spent.set(readText(row, 'key_id'), readWide(row, 'spent'));
  }
  return spent;
}

/**
 * The highest cost of unfinished videos: their rows are booked when they end. A balance counts only those that it pays.
 */
async function readVideos(database: Database, pot: Pot): Promise<bigint> {
  const span = pot.kind === 'balance' ? 'total' : pot.span;
  const conditions = [
    ...ownedVideos(pot.owner),
    ...(pot.kind === 'spend' && pot.keyId !== undefined ? [{ sql: 'key_id = ?', values: [pot.keyId] }] : []),
    ...(pot.kind === 'spend' ? [] : [paidVideos(pot.owner)]),
    { sql: 'created_at_ms >= ? and created_at_ms < ?', values: [periodStartMs(span), spanEndMs(span) ?? Number.MAX_SAFE_INTEGER] },
  ];
  const sql = `select ${sumNarrow('held_nano_usd', 'held')} from video_tasks where phase < 4`;
  const where = conditions.map((condition) => ` and ${condition.sql}`).join('');
  const row = await database.first(sql + where, ...conditions.flatMap(({ values }) => values));
  return row === undefined ? 0n : readWide(row, 'held');
}

type Condition = { readonly sql: string; readonly values: readonly SqlValue[] };

function ownedVideos(owner: PotOwner): readonly Condition[] {
  if (owner.level === 'user') return [{ sql: 'user_name = ?', values: [owner.userName] }];
  return owner.level === 'team' ? [{ sql: 'team_id = ?', values: [owner.teamId] }] : [];
}

function paidVideos({ level }: PotOwner): Condition {
  return level === 'user' ? { sql: 'payer is null', values: [] } : { sql: 'payer = ?', values: [level] };
}
