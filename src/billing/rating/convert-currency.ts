import { parseDecimal } from './decimal.ts';
import { multiply, writeDecimal } from './fraction.ts';
import type { PriceBookEntry } from './price-book-schema.ts';

/**
 * An entry with its prices in USD, rounded half up to 12 decimals: a millionth of a nano-USD per token, which cannot
 * change a charge.
 */
export function convertEntry(entry: PriceBookEntry, usdPerUnit: string): PriceBookEntry {
  const rate = parseDecimal(usdPerUnit);
  const convert = (price: string): string => writeDecimal(multiply(parseDecimal(price), rate));
  const { tiers, media, fees, lines } = entry;
  const { videoSecond, ...others } = media ?? {};
  return {
    ...entry,
    ...(tiers === undefined ? {} : { tiers: tiers.map((tier) => ({ ...tier, prices: convertAll(tier.prices, convert) })) }),
    ...(media === undefined
      ? {}
      : {
          media: {
            ...convertAll(others, convert),
            ...(videoSecond === undefined ? {} : { videoSecond: convertAll(videoSecond, convert) }),
          },
        }),
    ...(fees === undefined ? {} : { fees: convertAll(fees, convert) }),
    ...(lines === undefined ? {} : { lines: lines.map((line) => ({ ...line, price: convert(line.price) })) }),
  };
}

function convertAll<Prices extends object>(prices: Prices, convert: (price: string) => string): Prices {
  // Every member of these objects is a price.
  return Object.fromEntries(Object.entries(prices).map(([meter, price]) => [meter, convert(String(price))])) as Prices;
}
