import type { AuditedAction } from '../../audit/audit-entry.ts';
import type { Change } from '../../audit/change-author.ts';
import { appendAudit } from './audit-operations.ts';
import { type CreditBooks, type LedgerTransaction, type NewTransaction, type PostResult } from '../../billing/credits/credit-books.ts';
import { accountIdOf, balanceOf, organizationAccountId, type Pot, type PotOwner } from '../../billing/credits/pots.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import { insertPostings, moveBalances, ownerAccount } from './booked-spend.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBalance, readKeySpend, readPotBalances } from './pot-balances.ts';
import { readBigInt, readOptionalInteger, readText } from './read-column.ts';
import { decodeTransaction, listedMax, transactionColumns as columns } from './ledger-rows.ts';
import { readStatement } from './read-statement.ts';
import { verifyBooks } from './verify-books.ts';
import { readWide, toWide } from './wide-amount.ts';

/** The SQL of accounts and their ledger. */
export function createBookOperations(database: Database): CreditBooks {
  return {
    postTransaction: (posted, change) => database.transact((transaction) => post(transaction, posted, change), 'read-committed'),
    readBalances: (filter) => readBalances(database, filter),
    readPots: (pots) => readPots(database, pots),
    readKeySpend: (keys, span) => readKeySpend(database, keys, span),
    listTransactions: (filter) => listTransactions(database, filter),
    readStatement: (span) => readStatement(database, span),
    listLeases: () => listLeases(database),
    verifyBooks: (slice) => verifyBooks(database, slice),
  };
}

/** The account that a transaction changed. */
const accountOf = "coalesce(account_id, 'user:' || user_name)";

async function post(database: Database, posted: NewTransaction, change: Change): Promise<PostResult> {
  const { transactionId, kind, amountNanoUsd, against, postedAtMs, callId } = posted;
  const owner = toStorableOwner(posted.owner);
  const accountId = accountIdOf(owner);
  const before = await findPosted(database, { transactionId, formerId: posted.formerId, accountId });
  if (before !== undefined) {
    const isSame = before.kind === kind && before.accountId === accountId && before.amountNanoUsd === amountNanoUsd;
    return { status: isSame ? 'known' : 'conflict', balanceNanoUsd: await readBalance(database, owner) };
  }
  const account = { ...ownerAccount(owner), amounts: [amountNanoUsd] };
  const common = { accountId: against, kind: against, userName: null, amounts: [-amountNanoUsd] };
  const next = await moveBalances(database, [account, common]);
  const insert = `insert into ledger_transactions (${columns}) values (?, ?, ?, ?, ?, ?, null, null, ?, ?, ?, ?, ?)`;
  const written = [toStorableText(posted.actor), posted.note === undefined ? null : toStorableText(posted.note)] as const;
  const userName = owner.level === 'user' ? owner.userName : '';
  const teamId = owner.level === 'team' ? owner.teamId : null;
  const paid = [...written, teamId, owner.level === 'user' ? null : accountId] as const;
  await database.run(insert, transactionId, kind, userName, ...toWide(amountNanoUsd), Math.floor(postedAtMs), callId ?? null, ...paid);
  const postings = [account, common].map(({ accountId: id, amounts: [amount = 0n] }) => ({ transactionId, accountId: id, amount }));
  await insertPostings(database, next, postings);
  await database.run("update counters set value = value + 1 where name = 'credits_version'");
  const balanceNanoUsd = await readBalance(database, owner);
  await appendAudit(
    database,
    { ...change, ...(posted.note !== undefined && { note: posted.note }) },
    describePosting(posted, await subjectOf(database, owner), balanceNanoUsd),
  );
  return { status: 'posted', balanceNanoUsd };
}

/** A posting as the audit log shows it: amounts in nano-USD. */
function describePosting(
  { transactionId, kind, amountNanoUsd, callId }: NewTransaction,
  subject: string,
  balanceNanoUsd: bigint,
): AuditedAction {
  const before = { balanceNanoUsd: String(balanceNanoUsd - amountNanoUsd) };
  const after = { balanceNanoUsd: String(balanceNanoUsd), amountNanoUsd: String(amountNanoUsd), transactionId, callId };
  return { action: `credits.${kind}`, subject, before: JSON.stringify(before), after: JSON.stringify(after) };
}

/** The owner as the audit log names it: a team by its name. */
async function subjectOf(database: Database, owner: PotOwner): Promise<string> {
  if (owner.level === 'user') return `user:${owner.userName}`;
  if (owner.level === 'organization') return 'organization';
  const row = await database.first('select name from teams where id = ?', owner.teamId);
  return `team:${row === undefined ? owner.teamId : readText(row, 'name')}`;
}

function toStorableOwner(owner: PotOwner): PotOwner {
  return owner.level === 'user' ? { level: 'user', userName: toStorableText(owner.userName) } : owner;
}

/** The transaction with an id, or of this owner with the id that an earlier version would have chosen. */
async function findPosted(
  database: Database,
  ids: { readonly transactionId: string; readonly formerId: string | undefined; readonly accountId: string },
): Promise<LedgerTransaction | undefined> {
  const { transactionId, formerId, accountId } = ids;
  const sql = `select ${columns} from ledger_transactions where transaction_id = ?`;
  const row =
    (await database.first(sql, transactionId)) ??
    (formerId === undefined ? undefined : await database.first(`${sql} and ${accountOf} = ?`, formerId, accountId));
  return row === undefined ? undefined : decodeTransaction(row);
}

/** Owners in the order of a list: the organization, teams, users by name. */
const listOrder = "case kind when 'organization' then 0 when 'team' then 1 else 2 end, user_name, account_id";

async function readBalances(
  database: Database,
  { owner, limit }: { readonly owner?: PotOwner; readonly limit: number },
): ReturnType<CreditBooks['readBalances']> {
  const sql = 'select account_id, kind, user_name, balance_kusd, balance_nano from ledger_accounts';
  const rows =
    owner === undefined
      ? await database.all(
          `${sql} where kind = 'user' or (kind in ('team', 'organization') and postings > 0) order by ${listOrder} limit ?`,
          checkLimit(limit),
        )
      : await database.all(`${sql} where account_id = ?`, accountIdOf(toStorableOwner(owner)));
  const balances = [];
  for (const row of rows) {
    const found = decodeOwner(row);
    const [report] = await readPots(database, [balanceOf(found)]);
    const { leasedNanoUsd = 0n, videosNanoUsd = 0n } = report ?? {};
    balances.push({ owner: found, balanceNanoUsd: readWide(row, 'balance'), leasedNanoUsd, videosNanoUsd });
  }
  return balances;
}

function decodeOwner(row: SqlRow): PotOwner {
  const accountId = readText(row, 'account_id');
  if (accountId === organizationAccountId) return { level: 'organization' };
  if (readText(row, 'kind') === 'team') return { level: 'team', teamId: accountId.slice('team:'.length) };
  return { level: 'user', userName: readText(row, 'user_name') };
}

async function readPots(database: Database, pots: readonly Pot[]): ReturnType<CreditBooks['readPots']> {
  const standings = await readPotBalances(database, pots);
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
  { owner, after, limit }: Parameters<CreditBooks['listTransactions']>[0],
): Promise<readonly LedgerTransaction[]> {
  // Usage that a team or the organization paid for is in the history of its user too, because the user made it.
  const isUser = owner.level === 'user';
  const sql = `select ${columns} from ledger_transactions where ${isUser ? 'user_name' : 'account_id'} = ?
    ${after === undefined ? '' : 'and (posted_at_ms, transaction_id) < (?, ?)'} order by posted_at_ms desc, transaction_id desc limit ?`;
  const value = isUser ? toStorableText(owner.userName) : accountIdOf(owner);
  const position = after === undefined ? [] : [after.postedAtMs, after.transactionId];
  return (await database.all(sql, value, ...position, checkLimit(limit))).map(decodeTransaction);
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
