import { parseDecimal } from './decimal.ts';
import { multiply, writeDecimal } from './fraction.ts';
import type { CreditUnit } from './rating.ts';

const nanoUsdPerUsd = 1_000_000_000n;

/**
 * An amount in the operator's own unit: a decimal string with at most 12 decimals, rounded half up. Only for display:
 * the books are in nano-USD.
 */
export function creditsOf(nanoUsd: bigint, { perUsd }: Pick<CreditUnit, 'perUsd'>): string {
  const size = nanoUsd < 0n ? -nanoUsd : nanoUsd;
  const amount = writeDecimal(multiply({ numerator: size, denominator: nanoUsdPerUsd }, parseDecimal(perUsd)));
  return nanoUsd < 0n && amount !== '0' ? `-${amount}` : amount;
}

/** The same followed by the unit: `1250 credits`. */
export function formatCredits(nanoUsd: bigint, unit: CreditUnit): string {
  return `${creditsOf(nanoUsd, unit)} ${unit.name}`;
}
