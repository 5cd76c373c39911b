/**
 * Cuts a list into parts of the given sizes, the largest first.
 * @param sizes sizes of the parts; the last is 1, so that nothing remains
 */
export function* inParts<Part>(all: readonly Part[], sizes: readonly number[]): Generator<readonly Part[]> {
  let at = 0;
  for (const size of sizes) for (; at + size <= all.length; at += size) yield all.slice(at, at + size);
}

/** Caches statements by their number of rows. */
export function perRows(write: (rows: number) => string): (rows: number) => string {
  const written = new Map<number, string>();
  return (rows) => written.getOrInsertComputed(rows, write);
}

/** The rows of values of an insert. @param row one of them, with its parentheses */
export function valuesOf(row: string, rows: number): string {
  return `values ${Array.from({ length: rows }, () => row).join(', ')}`;
}

/** The values of some rows one after the other. `flat()` and `push` of each row take several times as long. */
export function joinRows<Value>(rows: readonly (readonly Value[])[]): readonly Value[] {
  const none: readonly Value[] = [];
  return none.concat(...rows);
}
