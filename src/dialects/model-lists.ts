/** How a vendor's clients want models listed. */
export type ModelListFormat = {
  /** The vendor whose models are listed, with those that are served through its interface; undefined where its clients are told of all. */
  readonly onlyOf: string | undefined;
  /** One page of the list. `query` holds the vendor's own paging parameters. */
  readonly encodeList: (models: readonly ListedModel[], query: URLSearchParams) => unknown;
  readonly encodeModel: (model: ListedModel) => unknown;
};

/** Reads a page size, holding it within what the vendor allows. */
export function readPageSize(value: string | null, fallback: number, most: number): number {
  const size = Number(value ?? fallback);
  return Number.isInteger(size) && size >= 1 ? Math.min(size, most) : fallback;
}

/** One entry of a model list, as far as it is known. */
export type ListedModel = { readonly id: string; readonly displayName: string; readonly createdAtMs: number; readonly ownedBy: string };
