import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { PriceBookEntry, TokenPrices } from '../price-book-schema.ts';
import { type ImportedBook, type ImportOptions, definedPrices, readPrice, startEntry, textOf } from './imported-book.ts';

const perThousand = { numerator: 1n, denominator: 1000n };
const source = 'genai-prices data set';

const vendors: Readonly<Record<string, string>> = { openai: 'openai', anthropic: 'anthropic', google: 'gemini', 'x-ai': 'xai' };

const tokenMembers = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite5m',
  input_audio_mtok: 'inputAudio',
  cache_audio_read_mtok: 'cacheReadAudio',
  output_audio_mtok: 'outputAudio',
} as const satisfies Record<string, keyof TokenPrices>;

/**
 * Reads the data of genai-prices: a list of providers with their models, prices per million tokens, tiers by input and
 * windows by date.
 */
export function importGenaiPrices(providers: readonly JsonValue[], options: ImportOptions): ImportedBook {
  const entries: PriceBookEntry[] = [];
  const notCarried: string[] = [];
  for (const provider of providers) {
    if (!isJsonObject(provider) || !Array.isArray(provider['models'])) continue;
    const id = textOf(provider['id']);
    const vendor = options.vendor ?? (Object.hasOwn(vendors, id) ? vendors[id] : undefined);
    if (vendor === undefined) {
      notCarried.push(`provider ${id}: ${provider['models'].length} models; name a vendor to import them.`);
      continue;
    }
    for (const model of provider['models']) {
      if (isJsonObject(model)) entries.push(...readModel(vendor, model, options, notCarried));
    }
  }
  return { book: { version: 'imported-genai-prices', currency: 'USD', entries }, notCarried };
}

function readModel(vendor: string, model: JsonObject, options: ImportOptions, notCarried: string[]): PriceBookEntry[] {
  const { id, prices, name, prices_checked: checked } = model;
  const place = `${vendor}/${textOf(id)}`;
  return windowsOf(prices, options.effectiveFrom, place, notCarried).flatMap(({ from, members }) => {
    const tiers = readTiers(members, place, notCarried);
    if (tiers.length === 0) {
      notCarried.push(`${place}: it has no input price.`);
      return [];
    }
    const entry = startEntry(vendor, textOf(id), source, { ...options, effectiveFrom: from });
    const call = readPrice(members['requests_kcount'], perThousand);
    return {
      ...entry,
      tiers,
      ...(typeof name === 'string' ? { displayName: name } : {}),
      ...(typeof checked === 'string' ? { checked } : {}),
      ...(call === undefined ? {} : { fees: { call } }),
    };
  });
}

/**
 * The prices are one set, or a list of sets with start dates. The first has none. Sets for hours of the day cannot be
 * imported.
 */
function windowsOf(
  prices: JsonValue | undefined,
  first: string,
  place: string,
  notCarried: string[],
): { readonly from: string; readonly members: JsonObject }[] {
  if (isJsonObject(prices)) return [{ from: first, members: prices }];
  const windows = new Map<string, JsonObject>();
  for (const window of Array.isArray(prices) ? prices : []) {
    if (!isJsonObject(window) || !isJsonObject(window['prices'])) continue;
    const { constraint } = window;
    const start = isJsonObject(constraint) ? constraint['start_date'] : first;
    if (typeof start === 'string') windows.set(start, window['prices']);
    else notCarried.push(`${place}: prices with a condition other than a date.`);
  }
  const earliest = [...windows.keys()].toSorted()[0];
  // A first set without a date is valid from the beginning, which must be before the others.
  return [...windows].map(([from, members]) => ({ from: from === first && earliest !== first ? '2020-01-01' : from, members }));
}

function readTiers(members: JsonObject, place: string, notCarried: string[]): NonNullable<PriceBookEntry['tiers']> {
  const left = Object.keys(members).filter((member) => !Object.hasOwn(tokenMembers, member) && member !== 'requests_kcount');
  if (left.length > 0) notCarried.push(`${place}: ${left.join(', ')}`);
  const bounds = new Set([0]);
  for (const price of Object.values(members)) {
    for (const tier of tiersOf(price)) bounds.add(tier.start);
  }
  return [...bounds]
    .toSorted((a, b) => a - b)
    .flatMap((inputAbove) => {
      const prices = definedPrices(
        Object.fromEntries(Object.entries(tokenMembers).map(([theirs, ours]) => [ours, priceAt(members[theirs], inputAbove)])),
      );
      return prices['input'] === undefined ? [] : [{ inputAbove, prices: { output: '0', ...prices, input: prices['input'] } }];
    });
}

function tiersOf(price: JsonValue | undefined): { readonly start: number; readonly price: JsonValue | undefined }[] {
  const tiers = isJsonObject(price) ? price['tiers'] : undefined;
  if (!Array.isArray(tiers)) return [];
  return tiers.flatMap((tier) =>
    isJsonObject(tier) && typeof tier['start'] === 'number' ? [{ start: tier['start'], price: tier['price'] }] : [],
  );
}

/** The price for more input than `inputAbove`. */
function priceAt(price: JsonValue | undefined, inputAbove: number): string | undefined {
  if (!isJsonObject(price)) return readPrice(price);
  const tier = tiersOf(price).findLast(({ start }) => start <= inputAbove);
  return readPrice(tier === undefined ? price['base'] : tier.price);
}
