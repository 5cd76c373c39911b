/** Words of SQL that differ from engine to engine. All of it is fixed text: nothing comes from a request. */
export type SqlFragments = {
  /** The function that gives the greater of two values. */
  readonly greatest: string;
  /** Ends a query for rows of a table that the transaction is about to change: it waits for others that have them. */
  readonly forUpdate: (table: string) => string;
  /** Ends a query for rows that the transaction relies on: nobody changes them before it ends, and many may rely on them at once. */
  readonly forShare: string;
  /** The same as forUpdate for work that anybody may take: what others have is left out. */
  readonly forUpdateOfFree: (table: string) => string;
  /** A column of integers in the form that many rows are read in for the least: as the nearest doubles, or as they are. */
  readonly fastNumber: (column: string) => string;
  /** The sum of a column of integers as the nearest double. It never fails for its size. */
  readonly realSum: (column: string) => string;
  /** A source of rows `bucket`, `from_unit`, `until_unit` out of one parameter: triples of integers as JSON. */
  readonly segments: string;
  /** A text whose parameter is its bytes in UTF-8: what comes as bytes and is only kept need not become a string on the way. */
  readonly textOfBytes: string;
  /** Rows that inserts take for the least cost of each, the largest first and 1 last. */
  readonly rowsPerInsert: readonly number[];
  /** The same for inserts that add to rows that are there. */
  readonly sumsPerInsert: readonly number[];
};
