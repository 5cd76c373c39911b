import { type PriceBookData, type PriceBookEntry, PriceBookError, parsePriceBook } from '../rating/parse-price-book.ts';

/** Whose prices an entry has: the same for all its windows. */
export const modelOf = ({ vendor, model }: PriceBookEntry): string => `${vendor}/${model}`;

/**
 * The book in force with the prices of another one from a day on. What held before that day stays, so that nothing accepted until then costs anything else. The prices that the other book has on
 * that day begin on it; those that it announces for later days begin when it says. Models that it does not name stay as they are.
 * @param from first day (UTC), such as `2026-12-01`
 * @throws PriceBookError naming models whose prices have ended by that day, and whatever is wrong with the book that results
 */
export function stagePriceBook(inForce: PriceBookData, staged: PriceBookData, from: string): PriceBookData {
  const coming = new Map<string, readonly PriceBookEntry[]>();
  for (const [model, entries] of Map.groupBy(staged.entries, modelOf)) coming.set(model, windowsFrom(entries, from));
  const ended = [...coming].filter(([, entries]) => entries.length === 0).map(([model]) => `${model}: its prices end before ${from}.`);
  if (ended.length > 0) throw new PriceBookError(ended);
  const kept = inForce.entries.flatMap((entry) => keepUntil(entry, coming.get(modelOf(entry))));
  return parsePriceBook({ version: staged.version, currency: 'USD', entries: [...kept, ...[...coming.values()].flat()] });
}

/** The entries of a book for the models that any of the others names. */
export function onlyModelsOf(book: PriceBookData, others: readonly PriceBookData[]): PriceBookData {
  const models = new Set(others.flatMap(({ entries }) => entries.map(modelOf)));
  return { ...book, entries: book.entries.filter((entry) => models.has(modelOf(entry))) };
}

/** The windows of one model that hold on a day or later; the one that holds on it begins on it. */
function windowsFrom(entries: readonly PriceBookEntry[], from: string): readonly PriceBookEntry[] {
  const begun = entries.map(({ effectiveFrom }) => effectiveFrom).filter((day) => day <= from);
  const present = begun.toSorted().at(-1) ?? from;
  return entries
    .filter(({ effectiveFrom }) => effectiveFrom >= present)
    .filter(({ effectiveUntil }) => effectiveUntil === undefined || effectiveUntil > from)
    .map((entry) => (entry.effectiveFrom > from ? entry : { ...entry, effectiveFrom: from }));
}

function keepUntil(entry: PriceBookEntry, coming: readonly PriceBookEntry[] | undefined): readonly PriceBookEntry[] {
  const begins = coming?.map(({ effectiveFrom }) => effectiveFrom).toSorted()[0];
  if (begins === undefined) return [entry];
  if (entry.effectiveFrom >= begins) return [];
  const { effectiveUntil, ...open } = entry;
  // One that was to end later ends where the next begins.
  return [effectiveUntil === undefined || effectiveUntil > begins ? open : entry];
}
