import type { Fraction } from '../decimal.ts';
import { fractionOf } from '../fraction.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { PriceBookEntry, TokenPrices } from '../price-book-schema.ts';
import { type ImportedBook, type ImportOptions, definedPrices, readPrice, startEntry, textOf } from './imported-book.ts';

const million = fractionOf(1_000_000);
const minute = fractionOf(60);
const source = 'model_prices_and_context_window.json';

/** The vendors of ours by LiteLLM's names of providers. */
const vendors: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  xai: 'xai',
  'text-completion-openai': 'openai',
};

/** LiteLLM's price per token for each of our token prices. */
const tokenMembers = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cacheRead: 'cache_read_input_token_cost',
  cacheWrite5m: 'cache_creation_input_token_cost',
  cacheWrite1h: 'cache_creation_input_token_cost_above_1hr',
  inputAudio: 'input_cost_per_audio_token',
  cacheReadAudio: 'cache_read_input_audio_token_cost',
  outputAudio: 'output_cost_per_audio_token',
  inputImage: 'input_cost_per_image_token',
  outputImage: 'output_cost_per_image_token',
  reasoning: 'output_cost_per_reasoning_token',
  cacheReadImage: 'cache_read_input_image_token_cost',
} as const satisfies Record<keyof TokenPrices, string>;

const tierNames = ['batches', 'flex', 'priority'] as const;
const aboveMember = /^(.+)_above_(\d+)k_tokens$/;

/**
 * Reads LiteLLM's list of models: prices per token as numbers, with long-context prices, service tiers and media. Data
 * that we cannot express (other providers, prices per other units) are listed.
 */
export function importLiteLlm(list: JsonObject, options: ImportOptions): ImportedBook {
  const entries: PriceBookEntry[] = [];
  const notCarried: string[] = [];
  const foreign = new Map<string, number>();
  for (const [key, model] of Object.entries(list)) {
    if (!isJsonObject(model) || key === 'sample_spec') continue;
    const provider = textOf(model['litellm_provider']);
    const vendor = options.vendor ?? (Object.hasOwn(vendors, provider) ? vendors[provider] : undefined);
    if (vendor === undefined) {
      foreign.set(provider, (foreign.get(provider) ?? 0) + 1);
      continue;
    }
    const name = key.startsWith(`${provider}/`) ? key.slice(provider.length + 1) : key;
    if (entries.some((entry) => entry.vendor === vendor && entry.model === name)) continue;
    const carried = new Set<string>();
    const entry = readModel(startEntry(vendor, name, source, options), model, carried);
    if (entry === undefined) notCarried.push(`${key}: it has no known price.`);
    else entries.push(entry);
    const left = Object.keys(model).filter(
      (member) => /cost|price/.test(member) && !carried.has(member) && readPrice(model[member]) !== '0',
    );
    if (entry !== undefined && left.length > 0) notCarried.push(`${key}: ${left.join(', ')}`);
  }
  for (const [provider, count] of foreign) notCarried.push(`provider ${provider}: ${count} models; name a vendor to import them.`);
  return { book: { version: 'imported-litellm', currency: 'USD', entries }, notCarried };
}

function readModel(entry: ReturnType<typeof startEntry>, model: JsonObject, carried: Set<string>): PriceBookEntry | undefined {
  const take = (member: string, units?: Fraction): string | undefined => {
    const price = readPrice(model[member], units);
    if (price !== undefined) carried.add(member);
    return price;
  };
  const tiers = readTiers(model, take);
  if (tiers.length > 0) entry.tiers = tiers;
  const media = definedPrices({
    characters: take('input_cost_per_character', million),
    audioMinute: take('input_cost_per_second', minute),
    outputAudioMinute: entry.tiers === undefined ? undefined : take('output_cost_per_second', minute),
    outputImage: take('output_cost_per_image'),
  });
  if (Object.keys(media).length > 0) entry.media = media;
  const search = isJsonObject(model['search_context_cost_per_query'])
    ? readPrice(model['search_context_cost_per_query']['search_context_size_medium'])
    : undefined;
  if (search !== undefined) {
    entry.fees = { web_search: search };
    carried.add('search_context_cost_per_query');
  }
  const serviceTiers = readServiceTiers(model, carried);
  if (Object.keys(serviceTiers).length > 0) entry.serviceTiers = serviceTiers;
  return entry.tiers === undefined && entry.media === undefined ? undefined : entry;
}

function readTiers(
  model: JsonObject,
  take: (member: string, units?: Fraction) => string | undefined,
): NonNullable<PriceBookEntry['tiers']> {
  const base = definedPrices(mapMembers((member) => take(member, million)));
  if (base.input === undefined) return [];
  const first: TokenPrices = { output: '0', ...base, input: base.input };
  const bounds = [...new Set(Object.keys(model).flatMap((member) => aboveMember.exec(member)?.[2] ?? []))]
    .map(Number)
    .toSorted((a, b) => a - b);
  const above = bounds.map((bound) => ({
    inputAbove: bound * 1000,
    prices: { ...first, ...definedPrices(mapMembers((member) => take(`${member}_above_${bound}k_tokens`, million))) },
  }));
  return [{ inputAbove: 0, prices: first }, ...above];
}

function mapMembers(priceOf: (member: string) => string | undefined): Record<keyof TokenPrices, string | undefined> {
  // The keys are those of the table.
  return Object.fromEntries(Object.entries(tokenMembers).map(([ours, theirs]) => [ours, priceOf(theirs)])) as Record<
    keyof TokenPrices,
    string | undefined
  >;
}

/** Prices of service tiers become multipliers if input and output have the same ratio. */
function readServiceTiers(model: JsonObject, carried: Set<string>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const tier of tierNames) {
    const ratios = ['input_cost_per_token', 'output_cost_per_token'].map((member) => ratioOf(model[`${member}_${tier}`], model[member]));
    const [input, output] = ratios;
    if (input === undefined || input !== output) continue;
    found[tier === 'batches' ? 'batch' : tier] = input;
    for (const member of Object.values(tokenMembers)) carried.add(`${member}_${tier}`);
  }
  return found;
}

function ratioOf(price: unknown, base: unknown): string | undefined {
  if (typeof price !== 'number' || typeof base !== 'number') return undefined;
  return readPrice((price / base).toFixed(6));
}
