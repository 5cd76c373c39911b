import type { ChargeLine } from '../ledger/call-entry.ts';
import { type Fraction, parseDecimal } from './decimal.ts';
import { add, multiply, reduce, zero } from './fraction.ts';

const nanoUsdPerUsd = 1_000_000_000n;

/**
 * The amount of a charge in nano-USD: the exact sum of its lines, rounded half up once. All charges are computed
 * and rounded here and nowhere else, so a stored receipt can be recomputed with it. Throws RangeError for a
 * quantity that is not a count or a price that is not a decimal, because a price book never produces either.
 */
export function recomputeAmount(lines: readonly ChargeLine[]): bigint {
  return round(sumInNanoUsd(lines));
}

/** Converts USD to nano-USD, rounded half up, negative amounts away from zero. */
export function roundToNanoUsd({ numerator, denominator }: Fraction): bigint {
  return round({ numerator: numerator * nanoUsdPerUsd, denominator });
}

/** The sum of lines in USD before rounding. Throws as recomputeAmount does. */
export function sumLines(lines: readonly ChargeLine[]): Fraction {
  const { numerator, denominator } = sumInNanoUsd(lines);
  return { numerator, denominator: denominator * nanoUsdPerUsd };
}

function sumInNanoUsd(lines: readonly ChargeLine[]): Fraction {
  let sum = zero;
  for (const line of lines) sum = add(sum, lineValue(line));
  return sum;
}

function round({ numerator, denominator }: Fraction): bigint {
  if (denominator === 1n) return numerator;
  return numerator < 0n ? -round({ numerator: -numerator, denominator }) : (2n * numerator + denominator) / (2n * denominator);
}

/** The value of a line in nano-USD before rounding. */
function lineValue({ meter, quantity, unitPrice, per, multipliers, reversed }: ChargeLine): Fraction {
  if (per === 0) throw new RangeError(`The line "${meter}" is priced per 0 units.`);
  const { numerator, denominator } = priceOfOne(unitPrice, per);
  const units = count(quantity);
  let value: Fraction = { numerator: (reversed === true ? -units : units) * numerator, denominator };
  if (multipliers !== undefined) for (const multiplier of Object.values(multipliers)) value = multiply(value, parseDecimal(multiplier));
  return value;
}

/** The last price of one unit by the text of a price. Prices are few; the limit is for receipts, which may have any. */
const lastPrices = new Map<string, { readonly per: number; readonly ofOne: Fraction }>();
const lastPricesMax = 1000;

/**
 * The price of one unit in nano-USD, in lowest terms: for most prices a whole number, so that sums have no fractions.
 */
function priceOfOne(unitPrice: string, per: number): Fraction {
  const last = lastPrices.get(unitPrice);
  if (last?.per === per) return last.ofOne;
  const { numerator, denominator } = parseDecimal(unitPrice);
  const ofOne = reduce({ numerator: numerator * nanoUsdPerUsd, denominator: denominator * count(per) });
  if (lastPrices.size >= lastPricesMax) lastPrices.clear();
  lastPrices.set(unitPrice, { per, ofOne });
  return ofOne;
}

function count(value: number): bigint {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a count.`);
  return BigInt(value);
}
