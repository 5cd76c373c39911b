import type { PriceBookData, PriceBookEntry } from './price-book-schema.ts';

/** Which prices to list: those of a vendor, of models whose name contains a text, and of a day (UTC) or `all`. */
export type PriceQuestion = { readonly vendor?: string | undefined; readonly model?: string | undefined; readonly day: string };

/** The day (UTC) of a moment, such as `2026-12-31`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Whether a text is a day such as `2026-12-31`. */
export function isDay(text: string): boolean {
  const atMs = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(atMs) && dayOf(atMs) === text;
}

/** The entries of a book that a question selects, by vendor, model and day. */
export function listPrices({ entries }: PriceBookData, { vendor, model, day }: PriceQuestion): PriceBookEntry[] {
  const windows = Map.groupBy(entries, ({ vendor: of, model: name }) => `${of}/${name}`);
  return entries
    .filter((entry) => vendor === undefined || entry.vendor === vendor)
    .filter((entry) => model === undefined || [entry.model, ...(entry.aliases ?? [])].some((name) => name.includes(model)))
    .filter((entry) => day === 'all' || holdsOn(entry, day, windows.get(`${entry.vendor}/${entry.model}`) ?? []))
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

const keyOf = ({ vendor, model, effectiveFrom, variant = '' }: PriceBookEntry): string =>
  `${vendor}\n${model}\n${effectiveFrom}\n${variant}`;

function holdsOn({ effectiveFrom, effectiveUntil }: PriceBookEntry, day: string, windows: readonly PriceBookEntry[]): boolean {
  if (effectiveFrom > day || (effectiveUntil !== undefined && effectiveUntil <= day)) return false;
  return !windows.some((other) => other.effectiveFrom > effectiveFrom && other.effectiveFrom <= day);
}
