import type { PriceBookEntry } from '../../../../src/billing/rating/price-book-schema.ts';
import { showChange } from '../../format/money.ts';

export type PriceEntry = PriceBookEntry;
export type PriceBookFile = { readonly version: string; readonly currency: string; readonly entries: readonly PriceEntry[] };

/** A book as the API writes it. The server has checked it. */
export const asBook = (book: unknown): PriceBookFile => book as PriceBookFile;
export const asEntry = (entry: unknown): PriceEntry => entry as PriceEntry;

/** `openai/gpt-5@2025-08-07`, with the name of the variant if there are several. */
export function idOfEntry({ vendor, model, effectiveFrom, variant }: PriceEntry): string {
  return `${vendor}/${model}@${effectiveFrom}${variant === undefined ? '' : `#${variant}`}`;
}

/** A single price of an entry. */
export type PlainPrice = {
  /** Its place in the entry: `tiers.0.prices.input`. */
  readonly member: string;
  readonly label: string;
  /** A decimal number of USD. */
  readonly price: string;
};

const tokenNames: Readonly<Record<string, string>> = {
  input: 'input',
  inputAudio: 'audio input',
  inputImage: 'image input',
  cacheRead: 'cache read',
  cacheReadAudio: 'cache read of audio',
  cacheReadImage: 'cache read of images',
  cacheWrite5m: 'cache write, 5 min',
  cacheWrite1h: 'cache write, 1 h',
  output: 'output',
  outputAudio: 'audio output',
  outputImage: 'image output',
  reasoning: 'reasoning',
};
const mediaNames: Readonly<Record<string, string>> = {
  characters: '1 M characters',
  audioMinute: 'minute of audio',
  outputAudioMinute: 'minute of audio output',
  videoSecond: 'second of video',
  inputImage: 'input image',
  outputImage: 'image',
  searchUnit: 'search unit',
};
const headNames: Readonly<Record<string, string>> = {
  effectiveFrom: 'first day',
  effectiveUntil: 'end day',
  aliases: 'another name',
  when: 'condition',
  serviceTiers: 'service tier',
  multipliers: 'multiplier',
  lines: 'further line',
};

/**
 * A place in an entry in words: `tiers.0.prices.input` is `input / 1 M`.
 * @param above where the tier begins, if the entry has several
 */
export function labelOfMember(member: string, above = 0): string {
  const [first = '', second = '', third = '', fourth = ''] = member.split('.');
  const from = above > 0 ? `, above ${above.toLocaleString('en').replaceAll(',', '\u202f')} tokens` : '';
  if (first === 'tiers' && third === 'prices') return `${tokenNames[fourth] ?? fourth} / 1\u00a0M${from}`;
  if (first === 'tiers') return `tier ${Number(second) + 1}, ${third}`;
  if (first === 'media') return `${mediaNames[second] ?? second}${third === '' ? '' : `, ${third}`}`;
  if (first === 'fees') return second.replaceAll('_', ' ');
  const rest = member.split('.').slice(1).join(' ');
  return `${headNames[first] ?? first}${rest === '' ? '' : ` ${rest}`}`;
}

/** The prices of an entry that are single numbers. Expressions are not among them. */
export function plainPrices({ tiers = [], media = {}, fees = {} }: PriceEntry): readonly PlainPrice[] {
  const named = (member: string, price: string, above = 0): PlainPrice => ({ member, label: labelOfMember(member, above), price });
  return [
    ...tiers.flatMap(({ inputAbove, prices }, tier) =>
      Object.entries(prices).map(([meter, price]) => named(`tiers.${tier}.prices.${meter}`, price, inputAbove)),
    ),
    ...Object.entries(media).flatMap(([meter, price]) =>
      typeof price === 'string'
        ? [named(`media.${meter}`, price)]
        : Object.entries(price).map(([size, each]) => named(`media.${meter}.${size}`, each)),
    ),
    ...Object.entries(fees).map(([fee, price]) => named(`fees.${fee}`, price)),
  ];
}

/** What of an entry is no single number, and can only be changed as text. */
export function conditionsOf({ when, variant, serviceTiers = {}, multipliers = [], lines = [] }: PriceEntry): readonly string[] {
  return [
    ...(variant === undefined ? [] : [`variant ${variant}`]),
    ...(when === undefined ? [] : [`if ${when}`]),
    ...Object.entries(serviceTiers).map(([tier, factor]) => `service tier ${tier} × ${factor}`),
    ...multipliers.map(({ name, when: condition, factor }) => `${name} × ${factor}${condition === undefined ? '' : ` if ${condition}`}`),
    ...lines.map(
      ({ meter, quantity, price, per = 1, when: condition }) =>
        `${meter}: ${quantity} × $${price}${per === 1 ? '' : ` / ${per}`}${condition === undefined ? '' : ` if ${condition}`}`,
    ),
  ];
}

/** An entry with another price at a place. */
export function withPrice(entry: PriceEntry, member: string, price: string): PriceEntry {
  const change = (value: unknown, path: readonly string[]): unknown => {
    const [first, ...rest] = path;
    if (first === undefined) return price;
    if (Array.isArray(value)) return value.map((each: unknown, index) => (String(index) === first ? change(each, rest) : each));
    const members = value as Readonly<Record<string, unknown>>;
    return { ...members, [first]: change(members[first], rest) };
  };
  return change(entry, member.split('.')) as PriceEntry;
}

const scaleDigits = 18;

/** A decimal number as a whole number of 10^-18; undefined for other texts. */
export function readDecimal(text: string): bigint | undefined {
  const found = /^(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  return found === null ? undefined : BigInt(`${found[1]}${(found[2] ?? '').padEnd(scaleDigits, '0')}`);
}

/** The change from one price to another in percent, if both are decimal numbers. */
export function priceChange(before: string | null, after: string | null): { readonly text: string; readonly isMore: boolean } | undefined {
  const [old, young] = [readDecimal(before ?? ''), readDecimal(after ?? '')];
  if (old === undefined || young === undefined || old === young) return undefined;
  const text = showChange(young, old);
  return text === undefined ? undefined : { text: `${young > old ? '▲' : '▼'} ${text}`, isMore: young > old };
}
