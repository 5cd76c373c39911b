import type { AdmissionServices } from '../../admission/services.ts';
import type { QuoteTarget } from '../shared/quoted-call.ts';
import type { Affordable } from './describe-quote.ts';

/** Holds the amount and releases it at once, so that the answer is exactly the one that a call would get. */
export async function checkCredit(
  { credits, clock }: Pick<AdmissionServices, 'clock' | 'credits'>,
  { caller }: Pick<QuoteTarget, 'caller'>,
  nanoUsd: bigint,
): Promise<Affordable> {
  const answer = await credits?.hold(caller, nanoUsd, clock.nowMs());
  if (answer === undefined) return { kind: 'unlimited' };
  if (!answer.admitted) return { kind: 'refused', refusal: answer };
  answer.end();
  return { kind: 'covered' };
}
