import { type BookProblem, userAccountId, type VerifyCursor, type VerifySlice } from '../../billing/credits/credit-books.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBigInt, readOptionalText, readText } from './read-column.ts';
import { readWide, sumNarrow } from './wide-amount.ts';

type Part = VerifyCursor['part'];
type Slice = {
  readonly rows: readonly SqlRow[];
  readonly problems: readonly BookProblem[];
  readonly last: (row: SqlRow) => readonly string[];
};

const parts: readonly Part[] = ['transactions', 'postings', 'spending', 'leases'];
const firstOf: Readonly<Record<Part, readonly string[]>> = {
  transactions: [''],
  postings: ['', '0'],
  spending: ['', '', ''],
  leases: ['', ''],
};

/**
 * Verifies some rows of the books by computing them again. A value that can change is compared with its parts in one
 * statement, so that concurrent bookings never look like errors.
 */
export async function verifyBooks(
  database: Database,
  { cursor, limit }: { readonly cursor: VerifyCursor; readonly limit: number },
): Promise<VerifySlice> {
  const verify = { transactions: verifyTransactions, postings: verifyPostings, spending: verifySpending, leases: verifyLeases }[
    cursor.part
  ];
  const { rows, problems, last } = await verify(database, cursor.after, limit);
  const end = rows.at(-1);
  if (end !== undefined && rows.length === limit) return { checked: rows.length, problems, next: { part: cursor.part, after: last(end) } };
  const part = parts[parts.indexOf(cursor.part) + 1];
  return { checked: rows.length, problems, next: part === undefined ? undefined : { part, after: firstOf[part] } };
}

function problem(row: SqlRow, what: string): BookProblem {
  const userName = readOptionalText(row, 'user_name');
  return { ...(userName === undefined ? {} : { userName }), what };
}

/**
 * A transaction has two postings that cancel each other, and the amount of a usage transaction is the cost of its
 * calls. Neither ever changes.
 */
async function verifyTransactions(database: Database, [after = '']: readonly string[], limit: number): Promise<Slice> {
  const select = 'select * from ledger_transactions where transaction_id > ? order by transaction_id limit ?';
  const rows = await database.all(select, after, limit);
  const range = [after, rows.at(-1)?.['transaction_id'] ?? after] as const;
  const within = 'where transaction_id > ? and transaction_id <= ?';
  const postings = Map.groupBy(await database.all(`select * from ledger_postings ${within}`, ...range), transactionOf);
  const sql = `select transaction_id, ${sumNarrow('amount_nano_usd', 'cost')} from calls ${within} group by transaction_id`;
  const costs = new Map((await database.all(sql, ...range)).map((row) => [transactionOf(row), readWide(row, 'cost')]));
  const problems = rows.flatMap((row) => {
    const id = transactionOf(row);
    return findTransactionProblems(row, postings.get(id) ?? [], costs.get(id) ?? 0n).map((what) =>
      problem(row, `transaction ${id}: ${what}`),
    );
  });
  return { rows, problems, last: (row) => [transactionOf(row)] };
}

const transactionOf = (row: SqlRow): string => readText(row, 'transaction_id');

function findTransactionProblems(row: SqlRow, postings: readonly SqlRow[], cost: bigint): readonly string[] {
  const amount = readWide(row, 'amount');
  const total = postings.reduce((sum, posting) => sum + readWide(posting, 'amount'), 0n);
  const accountId = userAccountId(readText(row, 'user_name'));
  const own = postings.find((posting) => posting['account_id'] === accountId);
  const isUsage = readText(row, 'kind') === 'usage';
  return [
    ...(postings.length === 2 && total === 0n ? [] : ['its postings do not cancel each other']),
    ...(own !== undefined && readWide(own, 'amount') === amount ? [] : ["the posting to the user's account has another amount"]),
    ...(isUsage && cost !== -amount ? ['the cost of its calls is another sum'] : []),
  ];
}

/** Each posting continues from the one before it, and the last has the balance of the account. */
async function verifyPostings(database: Database, [account = '', sequence = '0']: readonly string[], limit: number): Promise<Slice> {
  const sql = `select p.account_id, p.sequence, p.amount_kusd, p.amount_nano, p.balance_after_kusd, p.balance_after_nano,
      a.user_name, a.postings, a.balance_kusd, a.balance_nano,
      coalesce(b.balance_after_kusd, 0) as before_kusd, coalesce(b.balance_after_nano, 0) as before_nano, b.sequence as sequence_before
    from ledger_postings p
      left join ledger_accounts a on a.account_id = p.account_id
      left join ledger_postings b on b.account_id = p.account_id and b.sequence = p.sequence - 1
    where p.account_id > ? or (p.account_id = ? and p.sequence > ?) order by p.account_id, p.sequence limit ?`;
  const rows = await database.all(sql, account, account, BigInt(sequence), limit);
  const problems = rows.flatMap((row) => {
    const name = `account ${readText(row, 'account_id')}`;
    return findPostingProblems(row).map((what) => problem(row, `${name}: ${what}`));
  });
  return { rows, problems, last: (row) => [readText(row, 'account_id'), String(readBigInt(row, 'sequence'))] };
}

function findPostingProblems(row: SqlRow): readonly string[] {
  if (row['postings'] === null) return ['it is missing'];
  const number = readBigInt(row, 'sequence');
  const after = readWide(row, 'balance_after');
  const follows = number === 1n || row['sequence_before'] !== null;
  const isLinked = follows && readWide(row, 'before') + readWide(row, 'amount') === after;
  const postings = readBigInt(row, 'postings');
  const isBalanced = number < postings || (number === postings && after === readWide(row, 'balance'));
  return [
    ...(isLinked ? [] : [`posting ${number} does not follow from the one before`]),
    ...(isBalanced ? [] : ['the balance is not the sum of its postings']),
  ];
}

/** The spend of a key in a period equals what was posted for it. */
async function verifySpending(database: Database, [user = '', period = '', key = '']: readonly string[], limit: number): Promise<Slice> {
  const posted = (name: string, as: string): string => `(select coalesce(sum(t.${name}), 0) from ledger_transactions t
      where t.key_id = s.key_id and t.user_name = s.user_name and t.kind = 'usage'
        and (t.day = s.period or s.period = 'total' or substr(t.day, 1, 7) = s.period)) as ${as}`;
  const sql = `select s.user_name, s.period, s.key_id, s.spent_kusd, s.spent_nano, s.base_kusd, s.base_nano,
      ${posted('amount_kusd', 'posted_kusd')}, ${posted('amount_nano', 'posted_nano')}
    from spend_periods s
    where s.user_name > ? or (s.user_name = ? and (s.period > ? or (s.period = ? and s.key_id > ?)))
    order by s.user_name, s.period, s.key_id limit ?`;
  const rows = await database.all(sql, user, user, period, period, key, limit);
  const problems = rows.flatMap((row) =>
    readWide(row, 'spent') === readWide(row, 'base') - readWide(row, 'posted')
      ? []
      : [problem(row, `key ${readText(row, 'key_id')}: its spend in ${readText(row, 'period')} differs from its postings`)],
  );
  return { rows, problems, last: (row) => [readText(row, 'user_name'), readText(row, 'period'), readText(row, 'key_id')] };
}

async function verifyLeases(database: Database, [pot = '', node = '']: readonly string[], limit: number): Promise<Slice> {
  const sql = `select pot_id, node_id, user_name, version, granted_nano_usd, shipped_nano_usd from credit_leases
    where pot_id > ? or (pot_id = ? and node_id > ?) order by pot_id, node_id limit ?`;
  const rows = await database.all(sql, pot, pot, node, limit);
  const problems = rows.flatMap((row) => {
    const isSound =
      readBigInt(row, 'granted_nano_usd') >= 0n && readBigInt(row, 'shipped_nano_usd') >= 0n && readBigInt(row, 'version') > 0n;
    return isSound ? [] : [problem(row, `lease of ${readText(row, 'pot_id')} by ${readText(row, 'node_id')}: an amount is below 0`)];
  });
  return { rows, problems, last: (row) => [readText(row, 'pot_id'), readText(row, 'node_id')] };
}
