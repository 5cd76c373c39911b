import type { Fraction } from '../decimal.ts';
import type { PriceBookEntry } from '../price-book-schema.ts';
import { fractionOf, multiply, readNumber, writeDecimal } from '../fraction.ts';

/** What is known of the prices that are read. */
export type ImportOptions = {
  /** First day (UTC) on which they hold where the file does not say. */
  readonly effectiveFrom: string;
  /** When they were read. */
  readonly checked: string;
  /** The vendor of every model, where the format does not name vendors or names others than ours. */
  readonly vendor?: string | undefined;
};

/** Prices of another format in ours, and what of it could not be carried over, each with its place. */
export type ImportedBook = {
  readonly book: { readonly version: string; readonly currency: 'USD'; readonly entries: readonly PriceBookEntry[] };
  readonly notCarried: readonly string[];
};

const one = fractionOf(1);

/** A name in a list; empty where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type MutableEntry = { -readonly [Member in keyof PriceBookEntry]: PriceBookEntry[Member] };

/**
 * A number of another price list as a decimal string, times how many of its units are one of ours. Undefined for what is no price. Prices in JSON numbers are meant as they are
 * written: 2.5e-06 is exactly 0.0000025.
 */
export function readPrice(value: unknown, units: Fraction = one): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const number = readNumber(String(value));
  return number === undefined || number.numerator < 0n ? undefined : writeDecimal(multiply(number, units));
}

/** The prices that are known of those given. */
export function known<Prices extends Record<string, string | undefined>>(prices: Prices): { [Name in keyof Prices]?: string } {
  // Only absent members are taken away.
  return Object.fromEntries(Object.entries(prices).filter(([, price]) => price !== undefined)) as { [Name in keyof Prices]?: string };
}

/** An entry without prices yet. */
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

/** Whose a model is by its name, for lists that do not say. */
export function guessVendor(model: string): string {
  return beginnings.find(([pattern]) => pattern.test(model))?.[1] ?? 'openai-compatible';
}
