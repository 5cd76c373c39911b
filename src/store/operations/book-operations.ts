import type { AuditedAction } from '../../audit/audit-entry.ts';
import type { Change } from '../../audit/change-author.ts';
import { appendAudit } from './audit-operations.ts';
import {
  type CreditBooks,
  type LedgerTransaction,
  type NewTransaction,
  type PostResult,
  type TransactionKind,
} from '../../billing/credits/credit-books.ts';
import { balancePot, type Pot } from '../../billing/credits/pots.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import { insertPostings, moveBalances, userAccount } from './booked-spend.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBalance, readPotBalances } from './pot-balances.ts';
import { readBigInt, readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import { verifyBooks } from './verify-books.ts';
import { readWide, toWide } from './wide-amount.ts';

/** The highest `limit` of a list. */
const listedMax = 10_000;

/** The SQL of accounts and their ledger. */
export function createBookOperations(database: Database): CreditBooks {
  return {
    postTransaction: (posted, change) => database.transact((transaction) => post(transaction, posted, change), 'read-committed'),
    readBalances: (filter) => readBalances(database, filter),
    readPots: (pots) => readPots(database, pots),
    listTransactions: (filter) => listTransactions(database, filter),
    listLeases: () => listLeases(database),
    verifyBooks: (slice) => verifyBooks(database, slice),
  };
}

const kinds: readonly TransactionKind[] = ['usage', 'top_up', 'promo', 'correction', 'refund', 'write_off'];
const columns = 'transaction_id, kind, user_name, amount_kusd, amount_nano, posted_at_ms, key_id, day, call_id, actor, note';

async function post(database: Database, posted: NewTransaction, change: Change): Promise<PostResult> {
  const { transactionId, kind, amountNanoUsd, against, postedAtMs, callId } = posted;
  const userName = toStorableText(posted.userName);
  const before = await findPosted(database, { transactionId, formerId: posted.formerId, userName });
  if (before !== undefined) {
    const isSame = before.kind === kind && before.userName === userName && before.amountNanoUsd === amountNanoUsd;
    return { status: isSame ? 'known' : 'conflict', balanceNanoUsd: await readBalance(database, userName) };
  }
  const account = { ...userAccount(userName), amounts: [amountNanoUsd] };
  const common = { accountId: against, kind: against, userName: null, amounts: [-amountNanoUsd] };
  const next = await moveBalances(database, [account, common]);
  const insert = `insert into ledger_transactions (${columns}) values (?, ?, ?, ?, ?, ?, null, null, ?, ?, ?)`;
  const written = [toStorableText(posted.actor), posted.note === undefined ? null : toStorableText(posted.note)] as const;
  await database.run(insert, transactionId, kind, userName, ...toWide(amountNanoUsd), Math.floor(postedAtMs), callId ?? null, ...written);
  const postings = [account, common].map(({ accountId, amounts: [amount = 0n] }) => ({ transactionId, accountId, amount }));
  await insertPostings(database, next, postings);
  await database.run("update counters set value = value + 1 where name = 'credits_version'");
  const balanceNanoUsd = await readBalance(database, userName);
  await appendAudit(
    database,
    { ...change, ...(posted.note !== undefined && { note: posted.note }) },
    describePosting(posted, balanceNanoUsd),
  );
  return { status: 'posted', balanceNanoUsd };
}

/** A posting as the audit log shows it: amounts in nano-USD. */
function describePosting({ transactionId, kind, userName, amountNanoUsd, callId }: NewTransaction, balanceNanoUsd: bigint): AuditedAction {
  const before = { balanceNanoUsd: String(balanceNanoUsd - amountNanoUsd) };
  const after = { balanceNanoUsd: String(balanceNanoUsd), amountNanoUsd: String(amountNanoUsd), transactionId, callId };
  return { action: `credits.${kind}`, subject: `user:${userName}`, before: JSON.stringify(before), after: JSON.stringify(after) };
}

/** The transaction with an id, or of this user with the id that an earlier version would have chosen. */
async function findPosted(
  database: Database,
  ids: { readonly transactionId: string; readonly formerId: string | undefined; readonly userName: string },
): Promise<LedgerTransaction | undefined> {
  const { transactionId, formerId, userName } = ids;
  const sql = `select ${columns} from ledger_transactions where transaction_id = ?`;
  const row =
    (await database.first(sql, transactionId)) ??
    (formerId === undefined ? undefined : await database.first(`${sql} and user_name = ?`, formerId, userName));
  return row === undefined ? undefined : decodeTransaction(row);
}

async function readBalances(
  database: Database,
  { userName, limit }: { readonly userName?: string; readonly limit: number },
): ReturnType<CreditBooks['readBalances']> {
  const sql = `select user_name, balance_kusd, balance_nano from ledger_accounts where kind = 'user'`;
  const rows =
    userName === undefined
      ? await database.all(`${sql} order by user_name limit ?`, checkLimit(limit))
      : await database.all(`${sql} and user_name = ?`, toStorableText(userName));
  const balances = [];
  for (const row of rows) {
    const name = readText(row, 'user_name');
    const [report] = await readPots(database, [balancePot(name)]);
    const { leasedNanoUsd = 0n, videosNanoUsd = 0n } = report ?? {};
    balances.push({ userName: name, balanceNanoUsd: readWide(row, 'balance'), leasedNanoUsd, videosNanoUsd });
  }
  return balances;
}

async function readPots(database: Database, pots: readonly Pot[]): ReturnType<CreditBooks['readPots']> {
  const [first] = pots;
  if (first === undefined) return [];
  const standings = await readPotBalances(database, first.userName, pots);
  const reports = [];
  const sql = `select coalesce(sum(granted_nano_usd - shipped_nano_usd), 0) as leased from credit_leases
    where pot_id = ? and granted_nano_usd > shipped_nano_usd`;
  for (const [index, pot] of pots.entries()) {
    const { limit, spent, videos } = standings[index] ?? { limit: undefined, spent: 0n, videos: 0n };
    const row = await database.first(sql, pot.id);
    const leasedNanoUsd = row === undefined ? 0n : readBigInt(row, 'leased');
    reports.push({ pot, limitNanoUsd: limit, spentNanoUsd: spent, leasedNanoUsd, videosNanoUsd: videos });
  }
  return reports;
}

async function listTransactions(
  database: Database,
  { userName, limit }: { readonly userName: string; readonly limit: number },
): Promise<readonly LedgerTransaction[]> {
  const sql = `select ${columns} from ledger_transactions where user_name = ? order by posted_at_ms desc, transaction_id desc limit ?`;
  return (await database.all(sql, toStorableText(userName), checkLimit(limit))).map(decodeTransaction);
}

async function listLeases(database: Database): ReturnType<CreditBooks['listLeases']> {
  const sql = `select credit_leases.node_id as node_id, pot_id, user_name, granted_nano_usd, shipped_nano_usd, seen_at_ms
    from credit_leases left join credit_nodes on credit_nodes.node_id = credit_leases.node_id
    order by credit_leases.node_id, pot_id limit ?`;
  return (await database.all(sql, listedMax)).map((row) => {
    const left = readBigInt(row, 'granted_nano_usd') - readBigInt(row, 'shipped_nano_usd');
    return {
      nodeId: readText(row, 'node_id'),
      potId: readText(row, 'pot_id'),
      userName: readText(row, 'user_name'),
      leasedNanoUsd: left > 0n ? left : 0n,
      seenAtMs: readOptionalInteger(row, 'seen_at_ms'),
    };
  });
}

function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= listedMax) return limit;
  throw new StoreError('constraint', `The limit of a list must be from 1 to ${listedMax}; got ${limit}.`);
}

function decodeTransaction(row: SqlRow): LedgerTransaction {
  const written = readText(row, 'kind');
  const kind = kinds.find((each) => each === written);
  if (kind === undefined) throw new StoreError('corrupt', 'Column kind is not a known kind of transaction.');
  const optional = {
    keyId: readOptionalText(row, 'key_id'),
    day: readOptionalText(row, 'day'),
    callId: readOptionalText(row, 'call_id'),
    actor: readOptionalText(row, 'actor'),
    note: readOptionalText(row, 'note'),
  };
  return {
    transactionId: readText(row, 'transaction_id'),
    kind,
    userName: readText(row, 'user_name'),
    amountNanoUsd: readWide(row, 'amount'),
    postedAtMs: readInteger(row, 'posted_at_ms'),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
