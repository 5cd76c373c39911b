import { parseDecimal } from './decimal.ts';
import { multiply, writeDecimal } from './fraction.ts';
import type { CreditUnit } from './rating.ts';

const nanoUsdPerUsd = 1_000_000_000n;

/** An amount in the operator's own unit, with at most 12 decimals, rounded half up: `1250 credits`. It is for people to read: the books are in nano-USD. */
export function formatCredits(nanoUsd: bigint, { name, perUsd }: CreditUnit): string {
  const size = nanoUsd < 0n ? -nanoUsd : nanoUsd;
  const amount = writeDecimal(multiply({ numerator: size, denominator: nanoUsdPerUsd }, parseDecimal(perUsd)));
  return `${nanoUsd < 0n ? '-' : ''}${amount} ${name}`;
}
