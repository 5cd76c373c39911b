import {
  accountIdOf,
  allPots,
  organizationAccountId,
  ownersInOrder,
  ownersOf,
  paidBy,
  periodsOf,
  type PotOwner,
  type SpendingCall,
} from '../../billing/credits/pots.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import type { SqlValue } from './sql-values.ts';
import { inParts, joinRows, perRows, valuesOf } from './in-parts.ts';
import { readBigInt, readInteger, readText } from './read-column.ts';
import type { SpendGroup, BatchTransactions } from './batch-transactions.ts';
import { addWide, readWide, toWide } from './wide-amount.ts';

/**
 * Posts the spend of a batch to the accounts that pay, adds it to the spend of keys, teams and the organization, and
 * takes it out of the node's leases, within the transaction that inserts the rows. Uses few statements for many
 * accounts, because each may be a round trip.
 * @param nodeId the node whose journal the rows come from; undefined for rows that the store itself writes
 */
export async function bookSpend(database: Database, spend: BatchTransactions, nodeId: string | undefined): Promise<void> {
  const groups = spend.groups();
  if (groups.length === 0) return;
  const paid = Map.groupBy(groups, (group) => accountIdOf(paidBy(group)));
  // All owners are locked, also those that do not pay, because their spend and their leases change.
  const moves = ownersInOrder(groups.flatMap(ownersOf)).map((owner) => ({
    ...ownerAccount(owner),
    amounts: (paid.get(accountIdOf(owner)) ?? []).map(({ amount }) => -amount),
  }));
  // The account that everybody uses comes last, so that it is locked for the shortest time.
  moves.push({ ...revenueAccount, amounts: groups.map(({ amount }) => amount) });
  const next = await moveBalances(database, moves);
  await postUsage(database, groups, next);
  await addToPeriods(database, groups);
  await addToGroups(database, groups);
  if (nodeId === undefined) return;
  const leased = new Map<string, bigint>();
  for (const group of groups) addUpPots(leased, group, group.held);
  await shipFromLeases(database, nodeId, leased);
}

type Account = { readonly accountId: string; readonly kind: string; readonly userName: string | null };

/** The account of an owner of pots. */
export function ownerAccount(owner: PotOwner): Account {
  return { accountId: accountIdOf(owner), kind: owner.level, userName: owner.level === 'user' ? owner.userName : null };
}

const revenueAccount: Account = { accountId: 'revenue', kind: 'revenue', userName: null };

/** The next posting to an account: its number and the balance before it. */
type NextPosting = { sequence: bigint; balance: bigint };

const upsertAccounts = perRows(
  (
    rows,
  ) => `insert into ledger_accounts (account_id, kind, user_name, balance_kusd, balance_nano, postings) ${valuesOf('(?, ?, ?, ?, ?, ?)', rows)}
    on conflict (account_id) do update set ${addWide('ledger_accounts', 'balance')}, postings = ledger_accounts.postings + excluded.postings
    returning account_id, balance_kusd, balance_nano, postings`,
);

/**
 * Changes the balances of accounts for the postings that follow, and locks the accounts until the transaction ends, in
 * the given order.
 * @returns the next posting by account; no account may appear twice
 */
export async function moveBalances(
  database: Database,
  moves: readonly (Account & { readonly amounts: readonly bigint[] })[],
): Promise<ReadonlyMap<string, NextPosting>> {
  const next = new Map<string, NextPosting>();
  const sums = new Map(moves.map(({ accountId, amounts }) => [accountId, { sum: sumOf(amounts), postings: BigInt(amounts.length) }]));
  for (const part of inParts(moves, database.fragments.sumsPerInsert)) {
    const values = part.flatMap(({ accountId, kind, userName, amounts }): SqlValue[] => {
      return [accountId, kind, userName, ...toWide(sumOf(amounts)), amounts.length];
    });
    for (const row of await database.all(upsertAccounts(part.length), ...values)) {
      const accountId = readText(row, 'account_id');
      const { sum = 0n, postings = 0n } = sums.get(accountId) ?? {};
      next.set(accountId, { sequence: readBigInt(row, 'postings') - postings, balance: readWide(row, 'balance') - sum });
    }
  }
  return next;
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

const insertPostingRows = perRows(
  (rows) => `insert into ledger_postings
      (transaction_id, account_id, sequence, amount_kusd, amount_nano, balance_after_kusd, balance_after_nano)
    ${valuesOf('(?, ?, ?, ?, ?, ?, ?)', rows)}`,
);

type Posting = { readonly transactionId: string; readonly accountId: string; readonly amount: bigint };

/** Writes postings to accounts whose balances moveBalances has already changed, in the given order. */
export async function insertPostings(
  database: Database,
  next: ReadonlyMap<string, NextPosting>,
  postings: readonly Posting[],
): Promise<void> {
  const rows = postings.map(({ transactionId, accountId, amount }) => {
    const account = next.get(accountId);
    if (account === undefined) throw new StoreError('corrupt', `The account ${accountId} was not locked before its posting.`);
    account.sequence += 1n;
    account.balance += amount;
    return [transactionId, accountId, account.sequence, ...toWide(amount), ...toWide(account.balance)];
  });
  for (const part of inParts(rows, database.fragments.sumsPerInsert)) await database.run(insertPostingRows(part.length), ...joinRows(part));
}

const insertUsage = perRows(
  (
    rows,
  ) => `insert into ledger_transactions (transaction_id, kind, user_name, amount_kusd, amount_nano, posted_at_ms, key_id, day, team_id, account_id)
    ${valuesOf("(?, 'usage', ?, ?, ?, ?, ?, ?, ?, ?)", rows)}`,
);

async function postUsage(database: Database, groups: readonly SpendGroup[], next: ReadonlyMap<string, NextPosting>): Promise<void> {
  for (const part of inParts(groups, database.fragments.sumsPerInsert)) {
    const values = part.flatMap((group): SqlValue[] => {
      const { transactionId, userName, amount, endedAtMs, keyId, day, teamId, payer } = group;
      const paying = payer === undefined ? null : accountIdOf(paidBy(group));
      return [transactionId, userName, ...toWide(-amount), endedAtMs, keyId, day, teamId ?? null, paying];
    });
    await database.run(insertUsage(part.length), ...values);
  }
  const postings = groups.flatMap((group) => [
    { transactionId: group.transactionId, accountId: accountIdOf(paidBy(group)), amount: -group.amount },
    { transactionId: group.transactionId, accountId: revenueAccount.accountId, amount: group.amount },
  ]);
  await insertPostings(database, next, postings);
}

const addToPeriodRows = perRows(
  (rows) => `insert into spend_periods (user_name, period, key_id, spent_kusd, spent_nano, base_kusd, base_nano)
    ${valuesOf('(?, ?, ?, ?, ?, 0, 0)', rows)}
    on conflict (user_name, period, key_id) do update set ${addWide('spend_periods', 'spent')}`,
);

async function addToPeriods(database: Database, groups: readonly SpendGroup[]): Promise<void> {
  // Several days of a key share their month, and one statement must not contain a row twice.
  const sums = new Map<string, { readonly names: readonly string[]; amount: bigint }>();
  for (const { userName, keyId, acceptedAtMs, amount } of groups) {
    for (const period of Object.values(periodsOf(acceptedAtMs))) {
      const names = [userName, period, keyId];
      sums.getOrInsertComputed(names.join('\0'), () => ({ names, amount: 0n })).amount += amount;
    }
  }
  for (const part of inParts([...sums.values()], database.fragments.sumsPerInsert)) {
    const values = part.flatMap(({ names, amount }): SqlValue[] => [...names, ...toWide(amount)]);
    await database.run(addToPeriodRows(part.length), ...values);
  }
}

const addToGroupRows = perRows(
  (rows) => `insert into group_spend (account_id, period, spent_kusd, spent_nano) ${valuesOf('(?, ?, ?, ?)', rows)}
    on conflict (account_id, period) do update set ${addWide('group_spend', 'spent')}`,
);

/** Adds to what the teams of the calls and the organization have spent. */
async function addToGroups(database: Database, groups: readonly SpendGroup[]): Promise<void> {
  const sums = new Map<string, { readonly names: readonly string[]; amount: bigint }>();
  for (const { teamId, acceptedAtMs, amount } of groups) {
    const accounts = [organizationAccountId, ...(teamId === undefined ? [] : [accountIdOf({ level: 'team', teamId })])];
    for (const period of Object.values(periodsOf(acceptedAtMs)))
      for (const account of accounts) {
        const names = [account, period];
        sums.getOrInsertComputed(names.join('\0'), () => ({ names, amount: 0n })).amount += amount;
      }
  }
  for (const part of inParts([...sums.values()], database.fragments.sumsPerInsert)) {
    const values = part.flatMap(({ names, amount }): SqlValue[] => [...names, ...toWide(amount)]);
    await database.run(addToGroupRows(part.length), ...values);
  }
}

/**
 * The most that one statement takes out of a lease: a price that is far too high must not keep rows from being booked.
 */
const shippedMax = 4_000_000_000_000_000_000n;
const ship = perRows(
  (rows) => `update credit_leases
    set shipped_nano_usd = case when shipped_nano_usd > ${shippedMax} then shipped_nano_usd else shipped_nano_usd + charged.column2 end
    from (${valuesOf('(cast(? as text), cast(? as bigint))', rows)}) as charged
    where pot_id = charged.column1 and node_id = ?
    returning pot_id, closing, granted_nano_usd, shipped_nano_usd`,
);

/** Takes booked charges out of the node's leases. A closing lease ends with the last of its charges. */
export async function takeFromLeases(
  database: Database,
  nodeId: string,
  call: SpendingCall & { readonly acceptedAtMs: number },
  held: ReadonlyMap<number, bigint>,
): Promise<void> {
  const leased = new Map<string, bigint>();
  addUpPots(leased, call, held);
  await shipFromLeases(database, nodeId, leased);
}

/** Adds amounts by bits of pots to the sums of the single pots. */
function addUpPots(leased: Map<string, bigint>, call: Parameters<typeof allPots>[0], held: ReadonlyMap<number, bigint>): void {
  if (held.size === 0) return;
  for (const { id, bit } of allPots(call)) {
    for (const [bits, part] of held) if ((bits & bit) !== 0 && part !== 0n) leased.set(id, (leased.get(id) ?? 0n) + part);
  }
}

async function shipFromLeases(database: Database, nodeId: string, leased: ReadonlyMap<string, bigint>): Promise<void> {
  for (const part of inParts([...leased], database.fragments.sumsPerInsert)) {
    const values = part.flatMap(([id, amount]) => [id, amount < shippedMax ? amount : shippedMax]);
    for (const row of await database.all(ship(part.length), ...values, nodeId)) {
      if (readInteger(row, 'closing') === 0 || readBigInt(row, 'granted_nano_usd') > readBigInt(row, 'shipped_nano_usd')) continue;
      await database.run('delete from credit_leases where pot_id = ? and node_id = ?', readText(row, 'pot_id'), nodeId);
    }
  }
}
