import { userAccountId } from '../../billing/credits/credit-books.ts';
import { everyPot, periodsOf } from '../../billing/credits/pots.ts';
import { StoreError } from '../store-error.ts';
import { callColumns, type CallRow } from './call-entry-row.ts';
import type { Database } from './database.ts';
import { readBigInt, readInteger } from './read-column.ts';
import { addWide, readWide, toWide } from './wide-amount.ts';

/** What one key has spent on one day in a batch: it is posted as one transaction. */
type SpendGroup = {
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly day: string;
  readonly transactionId: string;
  amount: bigint;
  /** When the last of its calls ended. */
  endedAtMs: number;
  /** What of it comes out of leases, by the bits of the pots. */
  readonly held: Map<number, bigint>;
};

const columnAt = (name: (typeof callColumns)[number]): number => callColumns.indexOf(name);
const at = {
  callId: columnAt('call_id'),
  acceptedAtMs: columnAt('accepted_at_ms'),
  userName: columnAt('user_name'),
  amount: columnAt('amount_nano_usd'),
  useTimeMs: columnAt('use_time_ms'),
  keyId: columnAt('key_id'),
  heldPots: columnAt('held_pots'),
  transactionId: columnAt('transaction_id'),
};
const dayMs = 86_400_000;

/** The transactions of a batch. Rows are named by them before they are inserted, and count once they are. */
export class SpendOfBatch {
  readonly #groups = new Map<string, SpendGroup>();

  /** The row with its transaction; one that costs nothing has none. */
  name(row: CallRow): CallRow {
    const amount = row[at.amount];
    if (amount === 0 || amount === 0n) return row;
    const named = [...row];
    named[at.transactionId] = this.#groups.get(keyOf(row))?.transactionId ?? `usage:${String(row[at.callId])}`;
    return named;
  }

  /** The row is in the books. */
  add(row: CallRow): void {
    const transactionId = row[at.transactionId];
    if (typeof transactionId !== 'string') return;
    const key = keyOf(row);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const acceptedAtMs = Number(row[at.acceptedAtMs]);
      const who = { userName: String(row[at.userName]), keyId: String(row[at.keyId]) };
      group = { ...who, acceptedAtMs, day: periodsOf(acceptedAtMs).day, transactionId, amount: 0n, endedAtMs: 0, held: new Map() };
      this.#groups.set(key, group);
    }
    const amount = BigInt(row[at.amount] ?? 0);
    const heldPots = Number(row[at.heldPots]);
    group.amount += amount;
    group.endedAtMs = Math.max(group.endedAtMs, Number(row[at.acceptedAtMs]) + Number(row[at.useTimeMs]));
    if (heldPots !== 0) group.held.set(heldPots, (group.held.get(heldPots) ?? 0n) + amount);
  }

  /** What was spent, by user: everybody locks the users' accounts in one order, so that no two transactions wait for each other. */
  groups(): readonly SpendGroup[] {
    return [...this.#groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
  }
}

function keyOf(row: CallRow): string {
  return `${String(row[at.userName])}\0${String(row[at.keyId])}\0${Math.floor(Number(row[at.acceptedAtMs]) / dayMs)}`;
}

/**
 * Posts what a batch has spent to the users' accounts, adds it to what their keys have spent, and takes it out of what the node has leased, within the
 * transaction that inserts the rows.
 * @param nodeId whose journal the rows come from; undefined for rows that the store itself writes
 */
export async function bookSpend(database: Database, spend: SpendOfBatch, nodeId: string | undefined): Promise<void> {
  const groups = spend.groups();
  if (groups.length === 0) return;
  const nextOf = new Map<string, NextPosting>();
  for (const [userName, own] of Map.groupBy(groups, (group) => group.userName)) {
    const account = { accountId: userAccountId(userName), kind: 'user', userName };
    nextOf.set(
      userName,
      await moveBalance(
        database,
        account,
        own.map(({ amount }) => -amount),
      ),
    );
  }
  // Everybody's account comes last, so that it is kept from the others for the shortest time.
  const revenue = await moveBalance(
    database,
    { accountId: 'revenue', kind: 'revenue', userName: null },
    groups.map(({ amount }) => amount),
  );
  for (const group of groups) {
    const user = nextOf.get(group.userName);
    if (user !== undefined) await postUsage(database, group, user, revenue);
    await addToPeriods(database, group);
    if (nodeId !== undefined) await takeFromLeases(database, nodeId, group, group.held);
  }
}

/** The postings that an account is about to get: the number and the balance of the next. */
type NextPosting = { sequence: bigint; balance: bigint };

const move = `insert into ledger_accounts (account_id, kind, user_name, balance_kusd, balance_nano, postings) values (?, ?, ?, ?, ?, ?)
  on conflict (account_id) do update set ${addWide('ledger_accounts', 'balance')}, postings = ledger_accounts.postings + excluded.postings
  returning balance_kusd, balance_nano, postings`;

/** Changes an account's balance by several postings that are to follow, and has the account to itself until the transaction ends. */
export async function moveBalance(
  database: Database,
  account: { readonly accountId: string; readonly kind: string; readonly userName: string | null },
  amounts: readonly bigint[],
): Promise<NextPosting> {
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  const row = await database.first(move, account.accountId, account.kind, account.userName, ...toWide(sum), amounts.length);
  if (row === undefined) throw new StoreError('corrupt', `The account ${account.accountId} was not changed.`);
  return { sequence: readBigInt(row, 'postings') - BigInt(amounts.length), balance: readWide(row, 'balance') - sum };
}

/** The columns of an account's next posting: its number, its amount and the balance after it. */
export function nextPosting(next: NextPosting, amount: bigint): readonly bigint[] {
  next.sequence += 1n;
  next.balance += amount;
  return [next.sequence, ...toWide(amount), ...toWide(next.balance)];
}

export const insertPostings = `insert into ledger_postings
    (transaction_id, account_id, sequence, amount_kusd, amount_nano, balance_after_kusd, balance_after_nano)
  values (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?)`;
const insertUsage = `insert into ledger_transactions (transaction_id, kind, user_name, amount_kusd, amount_nano, posted_at_ms, key_id, day)
  values (?, 'usage', ?, ?, ?, ?, ?, ?)`;

async function postUsage(
  database: Database,
  { transactionId, userName, keyId, day, amount, endedAtMs }: SpendGroup,
  user: NextPosting,
  revenue: NextPosting,
): Promise<void> {
  await database.run(insertUsage, transactionId, userName, ...toWide(-amount), endedAtMs, keyId, day);
  const own = nextPosting(user, -amount);
  const earned = nextPosting(revenue, amount);
  await database.run(insertPostings, transactionId, userAccountId(userName), ...own, transactionId, 'revenue', ...earned);
}

const addToPeriod = `insert into spend_periods (user_name, period, key_id, spent_kusd, spent_nano, base_kusd, base_nano)
  values (?, ?, ?, ?, ?, 0, 0), (?, ?, ?, ?, ?, 0, 0), (?, ?, ?, ?, ?, 0, 0)
  on conflict (user_name, period, key_id) do update set ${addWide('spend_periods', 'spent')}`;

async function addToPeriods(database: Database, { userName, keyId, acceptedAtMs, amount }: SpendGroup): Promise<void> {
  const { day, month, total } = periodsOf(acceptedAtMs);
  await database.run(addToPeriod, ...[day, month, total].flatMap((period) => [userName, period, keyId, ...toWide(amount)]));
}

/** So much is taken out of a lease at most: a price that is wrong by far must not keep rows from being booked. */
const shippedMax = 4_000_000_000_000_000_000n;
const ship = `update credit_leases set shipped_nano_usd = case when shipped_nano_usd > ${shippedMax} then shipped_nano_usd else shipped_nano_usd + ? end
  where pot_id = ? and node_id = ?
  returning closing, granted_nano_usd, shipped_nano_usd`;

/** What was charged is in the books: the node has leased less by it. A lease that the node is done with ends with the last of it. */
export async function takeFromLeases(
  database: Database,
  nodeId: string,
  call: { readonly userName: string; readonly keyId: string; readonly acceptedAtMs: number },
  held: ReadonlyMap<number, bigint>,
): Promise<void> {
  if (held.size === 0) return;
  for (const { id, bit } of everyPot(call)) {
    let amount = 0n;
    for (const [bits, part] of held) if ((bits & bit) !== 0) amount += part;
    const row = amount === 0n ? undefined : await database.first(ship, amount < shippedMax ? amount : shippedMax, id, nodeId);
    if (row === undefined || readInteger(row, 'closing') === 0) continue;
    if (readBigInt(row, 'granted_nano_usd') <= readBigInt(row, 'shipped_nano_usd'))
      await database.run('delete from credit_leases where pot_id = ? and node_id = ?', id, nodeId);
  }
}
