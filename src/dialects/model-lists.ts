/** The format in which a vendor's clients expect lists of models. */
export type ModelListFormat = {
  /**
   * The vendor to whose models the list is restricted, including models that are served through its interface.
   * Undefined: all models.
   */
  readonly onlyOf: string | undefined;
  /** One page of the list. `query` has the vendor's own paging parameters. */
  readonly encodeList: (models: readonly ListedModel[], query: URLSearchParams) => unknown;
  readonly encodeModel: (model: ListedModel) => unknown;
};

/** Reads a page size and limits it to what the vendor permits. */
export function readPageSize(value: string | null, fallback: number, most: number): number {
  const size = Number(value ?? fallback);
  return Number.isInteger(size) && size >= 1 ? Math.min(size, most) : fallback;
}

/** One entry of a model list, with the fields that are known. */
export type ListedModel = { readonly id: string; readonly displayName: string; readonly createdAtMs: number; readonly ownedBy: string };
