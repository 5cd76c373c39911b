/** What a file may have besides the records. */
export type ExportOptions = {
  /** The calls one by one: sheets of their own in a workbook, and in place of the records in a text. */
  readonly detail: boolean;
  /** A last line with the sums, in a workbook; undefined: as configured. */
  readonly totals: boolean | undefined;
};
