import type { AccessLimits } from '../../accounts/access-limits.ts';
import { userAccountId } from '../../billing/credits/credit-books.ts';
import { type Pot, periodStartMs, spanEndMs, spendLimitOf } from '../../billing/credits/pots.ts';
import type { Database } from './database.ts';
import { decodeLimits } from './decode-limits.ts';
import { readWide, sumNarrow, sumWide } from './wide-amount.ts';

/** The most that a node can lease, so that leases stay within 64 bits. */
const leasableMax = 1_000_000_000_000_000_000n;

/** Limit and spend of a pot without its leases. Amounts are nano-USD. */
export type PotBalances = { readonly limit: bigint | undefined; readonly spent: bigint; readonly videos: bigint };

/**
 * Reads limits and spend of pots of one user. They cannot change during a transaction that has locked the user's
 * account.
 */
export async function readPotBalances(database: Database, userName: string, pots: readonly Pot[]): Promise<readonly PotBalances[]> {
  const userLimits = await readLimits(database, 'select limits from users where name = ?', userName);
  const keyLimits = new Map<string, AccessLimits | undefined>();
  const balances: PotBalances[] = [];
  for (const pot of pots) {
    if (pot.kind === 'spend' && pot.keyId !== undefined && !keyLimits.has(pot.keyId)) {
      const sql = 'select limits from api_keys where id = ? and deleted_at_ms is null';
      keyLimits.set(pot.keyId, await readLimits(database, sql, pot.keyId));
    }
    balances.push(await readPotBalance(database, pot, userLimits, keyLimits));
  }
  return balances;
}

async function readLimits(database: Database, sql: string, value: string): Promise<AccessLimits | undefined> {
  const row = await database.first(sql, value);
  return row === undefined ? undefined : decodeLimits(row, 'limits');
}

async function readPotBalance(
  database: Database,
  pot: Pot,
  userLimits: AccessLimits | undefined,
  keyLimits: ReadonlyMap<string, AccessLimits | undefined>,
): Promise<PotBalances> {
  if (pot.kind === 'balance') {
    const balance = userLimits?.prepaid === true ? await readBalance(database, pot.userName) : undefined;
    return {
      limit: balance === undefined || balance < leasableMax ? balance : leasableMax,
      spent: 0n,
      videos: await readVideos(database, pot),
    };
  }
  const limit = spendLimitOf(pot, pot.keyId === undefined ? userLimits : keyLimits.get(pot.keyId));
  return { limit, spent: await readSpent(database, pot), videos: await readVideos(database, pot) };
}

/** The balance of a user's account: 0 without postings. */
export async function readBalance(database: Database, userName: string): Promise<bigint> {
  const row = await database.first('select balance_kusd, balance_nano from ledger_accounts where account_id = ?', userAccountId(userName));
  return row === undefined ? 0n : readWide(row, 'balance');
}

async function readSpent(database: Database, pot: Extract<Pot, { kind: 'spend' }>): Promise<bigint> {
  const sql = `select ${sumWide('spent', 'spent')} from spend_periods where user_name = ? and period = ?`;
  const row =
    pot.keyId === undefined
      ? await database.first(sql, pot.userName, pot.span)
      : await database.first(`${sql} and key_id = ?`, pot.userName, pot.span, pot.keyId);
  return row === undefined ? 0n : readWide(row, 'spent');
}

/** The highest cost of unfinished videos: their rows are booked when they end. */
async function readVideos(database: Database, pot: Pot): Promise<bigint> {
  const sql = `select ${sumNarrow('held_nano_usd', 'held')} from video_tasks
    where user_name = ? and phase < 4 and created_at_ms >= ? and created_at_ms < ?`;
  const span = pot.kind === 'balance' ? 'total' : pot.span;
  const parameters = [pot.userName, periodStartMs(span), spanEndMs(span) ?? Number.MAX_SAFE_INTEGER] as const;
  const row =
    pot.kind === 'balance' || pot.keyId === undefined
      ? await database.first(sql, ...parameters)
      : await database.first(`${sql} and key_id = ?`, ...parameters, pot.keyId);
  return row === undefined ? 0n : readWide(row, 'held');
}
