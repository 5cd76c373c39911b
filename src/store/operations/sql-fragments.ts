/** SQL that differs between engines. All of it is fixed text: nothing comes from a request. */
export type SqlFragments = {
  /** The function that returns the greater of two values. */
  readonly greatest: string;
  /** Ends a query for rows that the transaction will change: waits for others that have locked them. */
  readonly forUpdate: (table: string) => string;
  /**
   * Ends a query for rows that the transaction relies on: nobody can change them until it ends, and several
   * transactions may share them.
   */
  readonly forShare: string;
  /** As forUpdate for work that any process may take: skips locked rows. */
  readonly forUpdateOfFree: (table: string) => string;
  /** A column of integers in the cheapest form to read: as the nearest doubles, or unchanged. */
  readonly fastNumber: (column: string) => string;
  /** The sum of a column of integers as the nearest double. It never overflows. */
  readonly realSum: (column: string) => string;
  /** A source of rows `bucket`, `from_unit`, `until_unit` from one parameter: triples of integers as JSON. */
  readonly segments: string;
  /** A text whose parameter is its bytes in UTF-8, so that text that is only stored need not become a string. */
  readonly textOfBytes: string;
  /**
   * Begins an insert of many rows of a transaction or savepoint that is undone if the insert fails. So the engine need
   * not remember what to undo in the insert itself.
   */
  readonly insertOrFail: string;
  /** Whether the calls of a name are found by their spans, and not by indexes: see facts/call-spans.ts. */
  readonly hasCallSpans: boolean;
  /** Efficient numbers of rows per insert, the largest first and 1 last. */
  readonly rowsPerInsert: readonly number[];
  /** The same for inserts that add to existing rows. */
  readonly sumsPerInsert: readonly number[];
};
