import { meters, partsOf, type TokenMeter, tokensOfSide, summableMeters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { ChargeLine } from '../ledger/call-entry.ts';
import type { TokenPrices } from './price-book-schema.ts';

export const tokensPerPrice = 1_000_000;

const wholes = summableMeters.map((whole) => ({ whole, parts: partsOf(whole) }));

/**
 * What a meter costs where the list names no price of its own: cached input without a cache price is input, a one-hour cache write
 * without one is a five-minute write, audio and pictures without one are priced like text, and reasoning like other output.
 */
function priceOf(meter: TokenMeter, prices: TokenPrices): string {
  const { price, priceElse, side } = meters[meter];
  return prices[price] ?? (priceElse === undefined ? undefined : prices[priceElse]) ?? prices[side];
}

/** The prices that a token of input and one of output can have at a tier, whatever kind of token it turns out to be. */
export function possiblePrices(prices: TokenPrices): { readonly input: readonly string[]; readonly output: readonly string[] } {
  const pick = (side: 'input' | 'output'): string[] => tokensOfSide[side].map((meter) => priceOf(meter, prices));
  return { input: pick('input'), output: pick('output') };
}

/** Charge lines for the tokens of a call at one tier's prices. Unknown and zero counts give no line. */
export function tokenLines(usage: Usage, prices: TokenPrices, multipliers: ChargeLine['multipliers']): ChargeLine[] {
  const lines: ChargeLine[] = [];
  const add = (meter: TokenMeter, quantity: number): void => {
    if (quantity === 0) return;
    const line = { meter: meters[meter].line, quantity, unitPrice: priceOf(meter, prices), per: tokensPerPrice };
    lines.push(multipliers === undefined ? line : { ...line, multipliers });
  };
  for (const { whole, parts } of wholes) {
    let left = usage[whole] ?? 0;
    const apart = parts.map((part) => {
      // Only what has a price of its own is taken apart. A vendor that reports more of a part than of the whole is not believed.
      const quantity = prices[meters[part].price] === undefined ? 0 : Math.min(usage[part] ?? 0, left);
      left -= quantity;
      return quantity;
    });
    add(whole, left);
    for (const [index, part] of parts.entries()) add(part, apart[index] ?? 0);
  }
  return lines;
}
