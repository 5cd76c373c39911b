/** Optional parts of a file besides the records. */
export type ExportOptions = {
  /** Lists the calls: on sheets of their own in a workbook, and instead of the records in CSV and JSON Lines. */
  readonly detail: boolean;
  /** Adds a last line with the totals to a workbook; undefined: as configured. */
  readonly totals: boolean | undefined;
};
