import type { BookProblem, VerifyCursor, VerifySlice } from '../../billing/credits/credit-books.ts';
import { accountIdOf, organizationAccountId } from '../../billing/credits/pots.ts';
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

const parts: readonly Part[] = ['transactions', 'postings', 'spending', 'groups', 'leases'];
const firstOf: Readonly<Record<Part, readonly string[]>> = {
  transactions: [''],
  postings: ['', '0'],
  spending: ['', '', ''],
  groups: ['', ''],
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
  const verify = {
    transactions: verifyTransactions,
    postings: verifyPostings,
    spending: verifySpending,
    groups: verifyGroups,
    leases: verifyLeases,
  }[cursor.part];
  const { rows, problems, last } = await verify(database, cursor.after, limit);
  const end = rows.at(-1);
  if (end !== undefined && rows.length === limit) return { checked: rows.length, problems, next: { part: cursor.part, after: last(end) } };
  const part = parts[parts.indexOf(cursor.part) + 1];
  return { checked: rows.length, problems, next: part === undefined ? undefined : { part, after: firstOf[part] } };
}

/** The account that a row belongs to; undefined for a common account. */
function accountOf(row: SqlRow): string | undefined {
  const accountId = row['account_id'];
  if (typeof accountId === 'string') return isCommon(row) ? undefined : accountId;
  const userName = readOptionalText(row, 'user_name');
  return userName === undefined || userName === '' ? undefined : accountIdOf({ level: 'user', userName });
}

/** Accounts such as `revenue` have no owner. */
function isCommon(row: SqlRow): boolean {
  return !String(row['account_id']).includes(':');
}

function problem(row: SqlRow, what: string): BookProblem {
  const accountId = accountOf(row);
  return { ...(accountId === undefined ? {} : { accountId }), what };
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
  // In one statement, so that rows that are being archived count once.
  const sql = `select transaction_id, sum(cost_kusd) as cost_kusd, sum(cost_nano) as cost_nano from (
      select transaction_id, ${sumNarrow('amount_nano_usd', 'cost')} from calls ${within} group by transaction_id
      union all select transaction_id, cost_kusd, cost_nano from archived_spend ${within}) as costs
    group by transaction_id`;
  const costs = new Map((await database.all(sql, ...range, ...range)).map((row) => [transactionOf(row), readWide(row, 'cost')]));
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
  const accountId = accountOf(row);
  const own = postings.find((posting) => posting['account_id'] === accountId);
  const isUsage = readText(row, 'kind') === 'usage';
  return [
    ...(postings.length === 2 && total === 0n ? [] : ['its postings do not cancel each other']),
    ...(own !== undefined && readWide(own, 'amount') === amount ? [] : ['the posting to the account that pays has another amount']),
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

/** The two columns of a wide amount of `group_spend g`: for each name of a column, the sum that the row must have. */
const wideCase = (as: string, sumOf: (column: 'kusd' | 'nano') => string): string =>
  (['kusd', 'nano'] as const).map((column) => `case ${sumOf(column)} else g.spent_${column} end as ${as}_${column}`).join(', ');

const daysOf = (column: string): string => `when length(g.period) = 7 then (select coalesce(sum(d.spent_${column}), 0) from group_spend d
    where d.account_id = g.account_id and length(d.period) = 10 and substr(d.period, 1, 7) = g.period)`;
const monthsOf = (column: string): string => `when g.period = 'total' then (select coalesce(sum(m.spent_${column}), 0) from group_spend m
    where m.account_id = g.account_id and length(m.period) = 7)`;
const usageOfTeam = `from ledger_transactions t where t.kind = 'usage' and t.team_id = substr(g.account_id, 6)`;
const sourceOf = (column: string): string => `
  when g.account_id = '${organizationAccountId}' and g.period = 'total'
    then (select coalesce(sum(s.spent_${column}), 0) from spend_periods s where s.period = 'total')
  when g.account_id <> '${organizationAccountId}' and g.period = 'total' then (select -coalesce(sum(t.amount_${column}), 0) ${usageOfTeam})
  when g.account_id <> '${organizationAccountId}' and length(g.period) = 10
    then (select -coalesce(sum(t.amount_${column}), 0) ${usageOfTeam} and t.day = g.period)`;

/**
 * The spend of a team is what was posted for calls of its users, and that of the organization the spend of all keys.
 * Months are the sums of their days, and the total is that of the months.
 */
async function verifyGroups(database: Database, [account = '', period = '']: readonly string[], limit: number): Promise<Slice> {
  const sql = `select g.account_id, g.period, g.spent_kusd, g.spent_nano,
      ${wideCase('parts', (column) => `${daysOf(column)} ${monthsOf(column)}`)}, ${wideCase('source', sourceOf)}
    from group_spend g
    where g.account_id > ? or (g.account_id = ? and g.period > ?) order by g.account_id, g.period limit ?`;
  const rows = await database.all(sql, account, account, period, limit);
  const problems = rows.flatMap((row) => {
    const spent = readWide(row, 'spent');
    const name = `its spend in ${readText(row, 'period')}`;
    return [
      ...(spent === readWide(row, 'parts') ? [] : [problem(row, `${name} is not the sum of its parts`)]),
      ...(spent === readWide(row, 'source') ? [] : [problem(row, `${name} differs from what was posted`)]),
    ];
  });
  return { rows, problems, last: (row) => [readText(row, 'account_id'), readText(row, 'period')] };
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
