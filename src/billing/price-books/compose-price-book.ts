import type { PriceBookData } from '../rating/parse-price-book.ts';
import { modelOf, onlyModelsOf, stagePriceBook } from '../staging/stage-price-book.ts';

/** What is to be published. */
export type Publication = {
  /** The book that all gateways have now, without the files of any of them. */
  readonly inForce: PriceBookData;
  /** The published part of it; undefined where nothing was published yet. */
  readonly published: PriceBookData | undefined;
  /** The new prices. */
  readonly file: PriceBookData;
  /** First day (UTC) on which they hold. */
  readonly from: string;
  /** `override`: models that neither the file nor an earlier publication names stay those of the shipped book. `whole`: they stay what they are. */
  readonly scope: 'override' | 'whole';
  /** From that day on there are no other models than those of the file. */
  readonly endsOthers: boolean;
};

/**
 * The book to publish: the new prices from a day on, and everything that held until then, so that nothing accepted earlier costs anything else. It holds all that was published before, so that the newest
 * book of a store is all that a gateway has to know.
 * @throws PriceBookError as stagePriceBook does
 */
export function composePriceBook({ inForce, published, file, from, scope, endsOthers }: Publication): PriceBookData {
  const staged = stagePriceBook(inForce, file, from);
  if (scope === 'override') return onlyModelsOf(staged, published === undefined ? [file] : [published, file]);
  return endsOthers ? endOthers(staged, file, from) : staged;
}

function endOthers(book: PriceBookData, file: PriceBookData, from: string): PriceBookData {
  const models = new Set(file.entries.map(modelOf));
  const others = Map.groupBy(
    book.entries.filter((entry) => entry.effectiveFrom < from),
    modelOf,
  );
  const lastDays = new Map(
    [...others].map(([model, entries]) => [
      model,
      entries
        .map(({ effectiveFrom }) => effectiveFrom)
        .toSorted()
        .at(-1),
    ]),
  );
  const entries = book.entries.flatMap((entry) => {
    if (models.has(modelOf(entry))) return [entry];
    if (entry.effectiveFrom >= from) return [];
    const { effectiveFrom, effectiveUntil } = entry;
    // A window that another follows ends where that one begins.
    const isLast = effectiveFrom === lastDays.get(modelOf(entry)) && (effectiveUntil === undefined || effectiveUntil > from);
    return [isLast ? { ...entry, effectiveUntil: from } : entry];
  });
  return { ...book, entries };
}
