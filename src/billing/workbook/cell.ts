import type { ExactNumber } from '../statistics/exact-number.ts';

/** A value of a table. */
export type Cell = string | number | boolean | ExactNumber;

/** The values of a row by column; a missing or undefined one is an empty cell. */
export type TableRow = Readonly<Record<string, Cell | undefined>>;

/**
 * How a typed format shows a value: `number` is not added up, and `local-time` is a text `YYYY-MM-DD HH:MM:SS` that
 * becomes a date in formats that have dates.
 */
export type CellKind = 'text' | 'number' | 'count' | 'amount' | 'boolean' | 'local-time';

/** A column as a sheet places it. */
export type SheetColumn<Row> = { readonly field: keyof Row & string; readonly kind: CellKind };

/** The rows of a table as their source returns them: many at a time, or all at once. */
export type Batches<Row> = Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>;
