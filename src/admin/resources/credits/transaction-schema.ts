import { Type } from 'typebox';

import type { LedgerTransaction } from '../../../billing/credits/credit-books.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { instant, moneySchema, nullable, record } from '../../contract/values.ts';

/** The kinds of transactions, as answers name them. */
export const transactionKinds = ['usage', 'top_up', 'promo', 'correction', 'refund', 'write_off'] as const;
export const transactionSchema = record({
  id: Type.String(),
  kind: Type.Enum(transactionKinds),
  amount: moneySchema,
  posted_at: Type.String(),
  day: nullable(Type.String({ description: 'Of usage: the day (UTC) on which its calls were accepted.' })),
  user: nullable(Type.String({ description: 'Of usage: the user who made the calls. Of a payment to a user: that user.' })),
  key_id: nullable(Type.String()),
  call_id: nullable(Type.String()),
  actor: nullable(Type.String()),
  note: nullable(Type.String()),
});

export const encodeTransaction = (transaction: LedgerTransaction) => ({
  id: transaction.transactionId,
  kind: transaction.kind,
  amount: formatMoney(transaction.amountNanoUsd),
  posted_at: instant(transaction.postedAtMs),
  day: transaction.day ?? null,
  user: transaction.userName === '' ? null : transaction.userName,
  key_id: transaction.keyId ?? null,
  call_id: transaction.callId ?? null,
  actor: transaction.actor ?? null,
  note: transaction.note ?? null,
});
