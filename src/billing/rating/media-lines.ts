import { type MediaMeter, mediaMeters, meters, useMeters } from '../../inference/meters.ts';
import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import { parseDecimal } from './decimal.ts';
import { compare } from './fraction.ts';
import type { Fees, MediaPrices } from './price-book-schema.ts';

const million = 1_000_000;
const msPerSecond = 1000;
const secondsPerMinute = 60;

/** Converts a count that is not tokens to the quantity of its price. A price per piece needs no conversion. */
type Quantity = { readonly of: (count: number) => number; readonly per: number };

const quantities: Readonly<Record<(typeof meters)[MediaMeter]['pricedBy'], Quantity>> = {
  piece: { of: (count) => count, per: 1 },
  million: { of: (count) => count, per: million },
  // Vendors bill each started second.
  'started second of a minute': { of: (ms) => Math.ceil(ms / msPerSecond), per: secondsPerMinute },
  second: { of: (ms) => ms, per: msPerSecond },
};

/** Charge lines for meters that are not tokens. Unknown and zero counts, and meters without a price, have no line. */
export function mediaLines(
  usage: Usage,
  parameters: PricingParameters | undefined,
  prices: MediaPrices,
  multipliers?: ChargeLine['multipliers'],
): ChargeLine[] {
  const lines: ChargeLine[] = [];
  for (const meter of mediaMeters) {
    const { price: member, line, pricedBy } = meters[meter];
    const price = prices[member];
    if (price === undefined) continue;
    const { of, per } = quantities[pricedBy];
    const { name, unitPrice } = typeof price === 'string' ? { name: line, unitPrice: price } : priceByResolution(line, price, parameters);
    addLine(lines, name, of(usage[meter] ?? 0), unitPrice, per, multipliers);
  }
  return lines;
}

function priceByResolution(line: string, prices: NonNullable<MediaPrices['videoSecond']>, parameters: PricingParameters | undefined) {
  const { name, price } = findResolution(prices, parameters?.['resolution']);
  return { name: `${line}:${name}`, unitPrice: price };
}

/** Charge lines for fees per piece. */
export function feeLines(usage: Usage, fees: Fees, multipliers?: ChargeLine['multipliers']): ChargeLine[] {
  const lines: ChargeLine[] = [];
  for (const meter of useMeters) {
    const { price, line } = meters[meter];
    addLine(lines, line, usage[meter] ?? 0, fees[price], 1, multipliers);
    if (meter === 'webSearches') addLine(lines, groundedPrompt, Math.min(usage.webSearches ?? 0, 1), fees.grounded_prompt, 1, multipliers);
  }
  addLine(lines, 'call', isUsed(usage) ? 1 : 0, fees.call, 1, multipliers);
  return lines;
}

/** The line of a call that searched, if that has a price per call. */
export const groundedPrompt = 'grounded_prompt';

function addLine(
  lines: ChargeLine[],
  meter: string,
  quantity: number,
  unitPrice: string | undefined,
  per: number,
  multipliers: ChargeLine['multipliers'],
): void {
  if (quantity <= 0 || unitPrice === undefined) return;
  lines.push(multipliers === undefined ? { meter, quantity, unitPrice, per } : { meter, quantity, unitPrice, per, multipliers });
}

/** Whether anything is known to be used: a failed call has no counts and costs nothing. */
export function isUsed(usage: Usage): boolean {
  return Object.keys(usage).length > 0;
}

/**
 * The price of a resolution. An unknown one costs as much as the most expensive, so that it is never a way to pay less.
 */
function findResolution(
  prices: NonNullable<MediaPrices['videoSecond']>,
  resolution: string | undefined,
): { readonly name: string; readonly price: string } {
  const listed = resolution === undefined || !Object.hasOwn(prices, resolution) ? undefined : prices[resolution];
  if (resolution !== undefined && listed !== undefined) return { name: resolution, price: listed };
  const [name, price] = Object.entries(prices).reduce((highest, other) => (isMoreExpensive(other[1], highest[1]) ? other : highest));
  return { name, price };
}

/** Whether one decimal is greater than another. */
export function isMoreExpensive(one: string, other: string): boolean {
  return compare(parseDecimal(one), parseDecimal(other)) > 0;
}
