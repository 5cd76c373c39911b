import { meters, partsOf, type TokenMeter, tokensOfSide, summableMeters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import type { TokenPrices } from './price-book-schema.ts';

export const tokensPerPrice = 1_000_000;

const wholes = summableMeters.map((whole) => ({ whole, parts: partsOf(whole) }));

/**
 * The price of a meter without a price of its own: cached input costs as much as input, a one-hour cache write as a
 * five-minute write, audio and images as text, and reasoning as other output.
 */
function priceOf(meter: TokenMeter, prices: TokenPrices): string {
  const { price, priceElse, side } = meters[meter];
  return prices[price] ?? (priceElse === undefined ? undefined : prices[priceElse]) ?? prices[side];
}

/** The possible prices of an input and an output token at a tier, for all kinds of tokens. */
export function possiblePrices(prices: TokenPrices): { readonly input: readonly string[]; readonly output: readonly string[] } {
  const pick = (side: 'input' | 'output'): string[] => tokensOfSide[side].map((meter) => priceOf(meter, prices));
  return { input: pick('input'), output: pick('output') };
}

/** Charge lines for the tokens of a call at the prices of one tier. Unknown and zero counts have no line. */
export function tokenLines(usage: Usage, prices: TokenPrices, multipliers: ChargeLine['multipliers']): ChargeLine[] {
  const lines: ChargeLine[] = [];
  for (const { whole, parts } of wholes) {
    let left = usage[whole] ?? 0;
    // A part counts at most as much as its whole. Most calls have few of the kinds, so the others must cost nothing.
    if (left === 0) continue;
    const place = lines.length;
    for (const part of parts) {
      // Only kinds with a price of their own have a line.
      const quantity = prices[meters[part].price] === undefined ? 0 : Math.min(usage[part] ?? 0, left);
      if (quantity === 0) continue;
      left -= quantity;
      lines.push(lineOf(part, quantity, prices, multipliers));
    }
    if (left === 0) continue;
    const line = lineOf(whole, left, prices, multipliers);
    if (lines.length === place) lines.push(line);
    else lines.splice(place, 0, line);
  }
  return lines;
}

function lineOf(meter: TokenMeter, quantity: number, prices: TokenPrices, multipliers: ChargeLine['multipliers']): ChargeLine {
  const line = { meter: meters[meter].line, quantity, unitPrice: priceOf(meter, prices), per: tokensPerPrice };
  return multipliers === undefined ? line : { ...line, multipliers };
}
