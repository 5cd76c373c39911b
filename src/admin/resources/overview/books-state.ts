import { Type } from 'typebox';

import type { CallFactsStore } from '../../../billing/calls/call-facts-store.ts';
import type { VerificationStore } from '../../../billing/credits/book-verification.ts';
import type { CreditBooks } from '../../../billing/credits/credit-books.ts';
import { leasedTogether } from '../../../billing/credits/leased-together.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { moneySchema, nullable, optionalInstant } from '../../contract/values.ts';
import type { AdminContext } from '../../operation.ts';
import { shareAnswer } from '../../share-answers.ts';

export type BooksServices = {
  readonly credits: Pick<CreditBooks, 'listLeases'> & Pick<VerificationStore, 'listVerifications'>;
  readonly calls: Pick<CallFactsStore, 'scanCalls'>;
};

const countedMax = 500;
const dayMs = 86_400_000;
const estimatesKeptMs = 15_000;
const workMs = 60;

/** Members of the overview about the books, beside whether they add up. */
export const booksMembers = {
  verified_at: nullable(Type.String({ description: 'The end of the last verification; null before the first.' })),
  held: {
    ...moneySchema,
    description: 'Leased by gateways for calls under way and to come. What several limits of a call hold counts once.',
  },
  estimated_share: nullable(
    Type.Number({ description: `Of the newest calls of a day, ${countedMax} at most, from 0 to 1; null without calls.` }),
  ),
};

/** The part of the newest calls whose usage was estimated, because a vendor did not report it. */
async function readEstimatedShare({ services: { calls }, nowMs }: AdminContext<BooksServices>): Promise<number | null> {
  const endMs = nowMs();
  const scan = { filter: { startMs: endMs - dayMs, endMs }, scope: 'all', limit: countedMax, workMs } as const;
  const { calls: counted } = await calls.scanCalls(scan);
  return counted.length === 0 ? null : counted.filter(({ flags }) => flags.includes('estimated')).length / counted.length;
}

/** Last verification, leased amounts, and estimates. */
export async function readBooks(context: AdminContext<BooksServices>) {
  const { credits, calls } = context.services;
  const [[last], leases, estimatedShare] = await Promise.all([
    credits.listVerifications({ limit: 1 }),
    credits.listLeases(),
    shareAnswer(
      calls,
      'estimated share',
      () => readEstimatedShare(context),
      () => estimatesKeptMs,
    ),
  ]);
  return { verified_at: optionalInstant(last?.endedAtMs), held: formatMoney(leasedTogether(leases)), estimated_share: estimatedShare };
}
