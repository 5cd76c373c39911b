import type { LedgerTransaction, TransactionKind } from '../../billing/credits/credit-books.ts';
import { accountIdOf } from '../../billing/credits/pots.ts';
import { StoreError } from '../store-error.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';
import { readWide } from './wide-amount.ts';

/** The highest `limit` of a list. */
export const listedMax = 10_000;

const kinds: readonly TransactionKind[] = ['usage', 'top_up', 'promo', 'correction', 'refund', 'write_off'];
/** The columns that `decodeTransaction` reads. */
export const transactionColumns =
  'transaction_id, kind, user_name, amount_kusd, amount_nano, posted_at_ms, key_id, day, call_id, actor, note, team_id, account_id';

/** The kind that a column names. @throws StoreError `corrupt` */
export function readKind(row: SqlRow, column: string): TransactionKind {
  const written = readText(row, column);
  const kind = kinds.find((each) => each === written);
  if (kind === undefined) throw new StoreError('corrupt', `Column ${column} is not a known kind of transaction.`);
  return kind;
}

export function decodeTransaction(row: SqlRow): LedgerTransaction {
  const optional = {
    keyId: readOptionalText(row, 'key_id'),
    teamId: readOptionalText(row, 'team_id'),
    day: readOptionalText(row, 'day'),
    callId: readOptionalText(row, 'call_id'),
    actor: readOptionalText(row, 'actor'),
    note: readOptionalText(row, 'note'),
  };
  return {
    transactionId: readText(row, 'transaction_id'),
    kind: readKind(row, 'kind'),
    userName: readText(row, 'user_name'),
    accountId: readOptionalText(row, 'account_id') ?? accountIdOf({ level: 'user', userName: readText(row, 'user_name') }),
    amountNanoUsd: readWide(row, 'amount'),
    postedAtMs: readInteger(row, 'posted_at_ms'),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
