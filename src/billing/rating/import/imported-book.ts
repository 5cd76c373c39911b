import type { Fraction } from '../decimal.ts';
import type { PriceBookEntry } from '../price-book-schema.ts';
import { fractionOf, multiply, readNumber, writeDecimal } from '../fraction.ts';

/** Facts that the list may not contain. */
export type ImportOptions = {
  /** First day (UTC) of the prices if the file does not have it. */
  readonly effectiveFrom: string;
  /** The day on which the list was read. */
  readonly checked: string;
  /** The vendor of every model, if the format has no vendors or others than ours. */
  readonly vendor?: string | undefined;
};

/** The imported prices, and the data that could not be imported, each with its place. */
export type ImportedBook = {
  readonly book: { readonly version: string; readonly currency: 'USD'; readonly entries: readonly PriceBookEntry[] };
  readonly notCarried: readonly string[];
};

const one = fractionOf(1);

/** A name in a list; empty if it is not a string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type MutableEntry = { -readonly [Member in keyof PriceBookEntry]: PriceBookEntry[Member] };

/**
 * A number of another price list as a decimal string, multiplied by `units`, the number of its units in one of ours.
 * Undefined if it is not a price. JSON numbers are read as they are written: 2.5e-06 is exactly 0.0000025.
 */
export function readPrice(value: unknown, units: Fraction = one): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const number = readNumber(String(value));
  return number === undefined || number.numerator < 0n ? undefined : writeDecimal(multiply(number, units));
}

/** The prices without undefined members. */
export function definedPrices<Prices extends Record<string, string | undefined>>(prices: Prices): { [Name in keyof Prices]?: string } {
  // Only undefined members are removed.
  return Object.fromEntries(Object.entries(prices).filter(([, price]) => price !== undefined)) as { [Name in keyof Prices]?: string };
}

/** An entry without prices. */
export function startEntry(vendor: string, model: string, source: string, options: ImportOptions): MutableEntry {
  const { effectiveFrom, checked } = options;
  return { vendor, model, displayName: model, effectiveFrom, source, checked };
}

const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^claude/, 'anthropic'],
  [/^(gpt|chatgpt|o\d|tts-|whisper-|dall-e|sora|text-embedding-|davinci|babbage)/, 'openai'],
  [/^(gemini|gemma|imagen|veo)/, 'gemini'],
  [/^grok/, 'xai'],
];

/** The vendor of a model by its name, for lists without vendors. */
export function guessVendor(model: string): string {
  return beginnings.find(([pattern]) => pattern.test(model))?.[1] ?? 'openai-compatible';
}
