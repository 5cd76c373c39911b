import type { PriceBookData } from '../rating/parse-price-book.ts';
import { modelOf, onlyModelsOf, stagePriceBook } from '../staging/stage-price-book.ts';

/** The input of a publication. */
export type Publication = {
  /** The book that all gateways use now, without the price files of any of them. */
  readonly inForce: PriceBookData;
  /** The published part of it; undefined before the first publication. */
  readonly published: PriceBookData | undefined;
  /** The new prices. */
  readonly file: PriceBookData;
  /** First day (UTC) on which they are valid. */
  readonly from: string;
  /**
   * `override`: models that are neither in the file nor in an earlier publication keep the prices of the shipped book.
   * `whole`: they keep their present prices.
   */
  readonly scope: 'override' | 'whole';
  /** From that day on only the models of the file have prices. */
  readonly endsOthers: boolean;
};

/**
 * The book to publish: the new prices from a day on, and everything that was valid until then, so that the prices of
 * earlier calls do not change. It contains all earlier publications, so a gateway needs only the newest book of a
 * store.
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
