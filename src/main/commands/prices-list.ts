import type { PriceBookData, PriceBookEntry } from '../../billing/rating/parse-price-book.ts';
import { dayOf, isDay, listPrices } from '../../billing/rating/list-prices.ts';
import { StartError } from '../environment.ts';

export type ListPricesOptions = { readonly vendor?: string; readonly model?: string; readonly at?: string };

/** The day of `--at`; today without it. @throws StartError if it is not valid */
export function readListedDay(at: string | undefined, nowMs: number): string {
  const day = at ?? dayOf(nowMs);
  if (day !== 'all' && !isDay(day)) throw new StartError(`--at must be a day such as 2026-12-31, or all; got "${day}"`);
  return day;
}

/** Filters the entries of a book by vendor, model and day. */
export function selectPrices(book: PriceBookData, { vendor, model, at }: ListPricesOptions & { readonly at: string }): PriceBookEntry[] {
  return listPrices(book, { vendor, model, day: at });
}

/** The table rows of an entry, one per tier. */
export function priceColumns(entry: PriceBookEntry, source: string): string[][] {
  const { vendor, model, variant, effectiveFrom, checked, tiers } = entry;
  const name = variant === undefined ? model : `${model} #${variant}`;
  const besides = describeRest(entry);
  if (tiers === undefined) return [[vendor, name, effectiveFrom, '', '', '', '', besides, checked, source]];
  return tiers.map(({ inputAbove, prices }, index) => {
    const { input, cacheRead = '', cacheWrite5m = '', cacheWrite1h, output } = prices;
    const written = cacheWrite1h === undefined ? cacheWrite5m : `${cacheWrite5m}/${cacheWrite1h}`;
    return index === 0
      ? [vendor, name, effectiveFrom, input, cacheRead, written, output, besides, checked, source]
      : ['', `  above ${inputAbove} input`, '', input, cacheRead, written, output, '', '', ''];
  });
}

function describeRest({ tiers, media, fees, serviceTiers, multipliers = [], lines = [] }: PriceBookEntry): string {
  const { input: _input, output: _output, cacheRead: _read, cacheWrite5m: _5m, cacheWrite1h: _1h, ...tokens } = tiers?.[0]?.prices ?? {};
  const { videoSecond = {}, ...otherMedia } = media ?? {};
  return [
    ...Object.entries({ ...tokens, ...otherMedia, ...fees }).map(([meter, price]) => `${meter} ${price}`),
    ...Object.entries(videoSecond).map(([resolution, price]) => `${resolution} ${price}/s`),
    ...Object.entries(serviceTiers ?? {}).map(([tier, factor]) => `${tier} ×${factor}`),
    ...multipliers.map(({ name, factor }) => `${name} ×${factor}`),
    ...lines.map(({ meter, price, per = 1 }) => `${meter} ${price}${per === 1 ? '' : ` per ${per}`}`),
  ].join(', ');
}
