import type { ChargeLine } from '../ledger/call-entry.ts';
import { type Fraction, parseDecimal } from './decimal.ts';

const nanoUsdPerUsd = 1_000_000_000n;

/**
 * The amount of a charge in nano-USD: the exact sum of its lines, rounded half up once. All charges are computed
 * and rounded here and nowhere else, so a stored receipt can be recomputed with it. Throws RangeError for a
 * quantity that is not a count or a price that is not a decimal, because a price book never produces either.
 */
export function recomputeAmount(lines: readonly ChargeLine[]): bigint {
  return roundToNanoUsd(sumLines(lines));
}

/** Converts USD to nano-USD, rounded half up, negative amounts away from zero. */
export function roundToNanoUsd({ numerator, denominator }: Fraction): bigint {
  if (numerator < 0n) return -roundToNanoUsd({ numerator: -numerator, denominator });
  return (2n * numerator * nanoUsdPerUsd + denominator) / (2n * denominator);
}

/** The sum of lines in USD before rounding. Throws as recomputeAmount does. */
export function sumLines(lines: readonly ChargeLine[]): Fraction {
  let numerator = 0n;
  let denominator = 1n;
  for (const line of lines) {
    const value = lineValue(line);
    if (value.denominator === denominator) {
      numerator += value.numerator;
    } else {
      numerator = numerator * value.denominator + value.numerator * denominator;
      denominator *= value.denominator;
    }
  }
  return { numerator, denominator };
}

function lineValue(line: ChargeLine): Fraction {
  const price = parseDecimal(line.unitPrice);
  let numerator = count(line.quantity) * price.numerator;
  let denominator = count(line.per) * price.denominator;
  for (const multiplier of Object.values(line.multipliers ?? {})) {
    const factor = parseDecimal(multiplier);
    numerator *= factor.numerator;
    denominator *= factor.denominator;
  }
  if (denominator === 0n) throw new RangeError(`The line "${line.meter}" is priced per 0 units.`);
  return { numerator: line.reversed === true ? -numerator : numerator, denominator };
}

function count(value: number): bigint {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a count.`);
  return BigInt(value);
}
