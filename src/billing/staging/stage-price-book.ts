import { type PriceBookData, type PriceBookEntry, PriceBookError, parsePriceBook } from '../rating/parse-price-book.ts';

/** The model of an entry, the same for all its windows. */
export const modelOf = ({ vendor, model }: PriceBookEntry): string => `${vendor}/${model}`;

/**
 * The book in force with the prices of another one from a day on. Earlier prices stay, so that the cost of past calls
 * does not change. The other book's prices of that day begin on it; those for later days begin when it says. Models
 * that are not in it do not change.
 * @param from first day (UTC), such as `2026-12-01`
 * @throws PriceBookError with the models whose prices end before that day, and all problems of the resulting book
 */
export function stagePriceBook(inForce: PriceBookData, staged: PriceBookData, from: string): PriceBookData {
  const coming = new Map<string, readonly PriceBookEntry[]>();
  for (const [model, entries] of Map.groupBy(staged.entries, modelOf)) coming.set(model, windowsFrom(entries, from));
  const ended = [...coming].filter(([, entries]) => entries.length === 0).map(([model]) => `${model}: its prices end before ${from}.`);
  if (ended.length > 0) throw new PriceBookError(ended);
  const earlier = inForce.entries.flatMap((entry) => keepUntil(entry, coming.get(modelOf(entry))));
  return parsePriceBook({ version: staged.version, currency: 'USD', entries: [...earlier, ...[...coming.values()].flat()] });
}

/** The entries of a book for the models of any of the others. */
export function onlyModelsOf(book: PriceBookData, others: readonly PriceBookData[]): PriceBookData {
  const models = new Set(others.flatMap(({ entries }) => entries.map(modelOf)));
  return { ...book, entries: book.entries.filter((entry) => models.has(modelOf(entry))) };
}

/** The windows of one model that are valid on a day or later; the one of that day begins on it. */
function windowsFrom(entries: readonly PriceBookEntry[], from: string): readonly PriceBookEntry[] {
  const startDays = entries.map(({ effectiveFrom }) => effectiveFrom).filter((day) => day <= from);
  const present = startDays.toSorted().at(-1) ?? from;
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
  // A window that would end later ends where the next begins.
  return [effectiveUntil === undefined || effectiveUntil > begins ? open : entry];
}
