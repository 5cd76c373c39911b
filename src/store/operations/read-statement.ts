import type { StatementRecord, StatementSpan } from '../../billing/credits/credit-books.ts';
import { accountIdOf } from '../../billing/credits/pots.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database } from './database.ts';
import { decodeTransaction, listedMax, readKind, transactionColumns } from './ledger-rows.ts';
import { readInteger, readText } from './read-column.ts';
import { readWide, sumWide } from './wide-amount.ts';

/**
 * The statement of an account. Its sums come from one query, so that they belong to one moment, and the opening is the
 * present balance less everything since: no posting before the span is read.
 */
export async function readStatement(database: Database, { owner, fromMs, toMs }: StatementSpan): Promise<StatementRecord> {
  const storable = owner.level === 'user' ? { level: owner.level, userName: toStorableText(owner.userName) } : owner;
  const account = accountIdOf(storable);
  // Usage that a team or the organization paid for is that of a user, but is not posted to the user's account.
  const own = storable.level === 'user' ? "user_name = ? and coalesce(account_id, 'user:' || user_name) = ?" : 'account_id = ?';
  const ownValues = storable.level === 'user' ? [storable.userName, account] : [account];
  const part = "case when posted_at_ms < ? then kind else 'later' end";
  const day = "coalesce(day, '')";
  const sql = `select part, part_day, sum(number) as number, ${sumWide('amount', 'amount')} from (
      select ${part} as part, ${day} as part_day, 1 as number, amount_kusd, amount_nano
        from ledger_transactions where ${own} and posted_at_ms >= ?
      union all select 'balance', '', 1, balance_kusd, balance_nano from ledger_accounts where account_id = ?
    ) as parts group by part, part_day order by part_day`;
  const rows = await database.all(sql, toMs, ...ownValues, fromMs, account);
  const amountOf = (name: string): bigint =>
    rows.filter((row) => readText(row, 'part') === name).reduce((sum, row) => sum + readWide(row, 'amount'), 0n);
  const inside = rows.filter((row) => !['balance', 'later'].includes(readText(row, 'part')));
  const sums = new Map<string, { kind: ReturnType<typeof readKind>; count: number; amountNanoUsd: bigint }>();
  for (const row of inside) {
    const kind = readKind(row, 'part');
    const before = sums.get(kind) ?? { kind, count: 0, amountNanoUsd: 0n };
    sums.set(kind, {
      kind,
      count: before.count + readInteger(row, 'number'),
      amountNanoUsd: before.amountNanoUsd + readWide(row, 'amount'),
    });
  }
  const closingNanoUsd = amountOf('balance') - amountOf('later');
  const listed = `select ${transactionColumns} from ledger_transactions
    where ${own} and kind <> 'usage' and posted_at_ms >= ? and posted_at_ms < ? order by posted_at_ms, transaction_id limit ?`;
  return {
    closingNanoUsd,
    openingNanoUsd: [...sums.values()].reduce((left, { amountNanoUsd }) => left - amountNanoUsd, closingNanoUsd),
    sums: [...sums.values()],
    usage: inside
      .filter((row) => readText(row, 'part') === 'usage')
      .map((row) => ({ day: readText(row, 'part_day'), amountNanoUsd: readWide(row, 'amount') })),
    postings: (await database.all(listed, ...ownValues, fromMs, toMs, listedMax)).map(decodeTransaction),
  };
}
