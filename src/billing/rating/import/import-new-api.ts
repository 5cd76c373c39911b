import type { Fraction } from '../decimal.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { multiply, readNumber, writeDecimal } from '../fraction.ts';
import type { PriceBookEntry } from '../price-book-schema.ts';
import { guessVendor, type ImportedBook, type ImportOptions, definedPrices, readPrice, startEntry } from './imported-book.ts';

const source = 'new-api ratio configuration';
/** A ratio of 1 is 2 USD per million input tokens. */
const usdPerRatio = { numerator: 2n, denominator: 1n };

const tables = ['model_ratio', 'completion_ratio', 'cache_ratio', 'create_cache_ratio', 'model_price'] as const;

function numberOf(value: unknown): Fraction | undefined {
  return typeof value === 'number' || typeof value === 'string' ? readNumber(String(value)) : undefined;
}

/**
 * Reads the ratios of new-api: `model_ratio` prices input, `completion_ratio` and `cache_ratio` are multiples of it,
 * `model_price` is USD per call and overrides the ratios. The list has no vendors: they are derived from the names of
 * models.
 */
export function importNewApi(file: JsonObject, options: ImportOptions): ImportedBook {
  const data = isJsonObject(file['data']) ? file['data'] : file;
  const [ratios, completion, cache, written, perCall] = tables.map((name) => (isJsonObject(data[name]) ? data[name] : {}));
  const entries: PriceBookEntry[] = [];
  const notCarried = Object.keys(data)
    .filter((name) => /ratio|price/i.test(name) && !tables.some((known_) => known_ === name))
    .map((name) => `${name}: it cannot be imported.`);
  for (const model of new Set([...Object.keys(ratios ?? {}), ...Object.keys(perCall ?? {})])) {
    const entry = startEntry(options.vendor ?? guessVendor(model), model, source, options);
    const call = readPrice(perCall?.[model]);
    const ratio = numberOf(ratios?.[model]);
    if (call !== undefined) entry.fees = { call };
    else if (ratio !== undefined) {
      const base = multiply(ratio, usdPerRatio);
      const times = (table: JsonObject | undefined): string | undefined => {
        const factor = numberOf(table?.[model]);
        return factor === undefined ? undefined : writeDecimal(multiply(base, factor));
      };
      const input = writeDecimal(base);
      const prices = {
        input,
        output: times(completion) ?? input,
        ...definedPrices({ cacheRead: times(cache), cacheWrite5m: times(written) }),
      };
      entry.tiers = [{ inputAbove: 0, prices }];
    } else {
      notCarried.push(`${model}: its ratio is not a number.`);
      continue;
    }
    entries.push(entry);
  }
  return { book: { version: 'imported-new-api', currency: 'USD', entries }, notCarried };
}
