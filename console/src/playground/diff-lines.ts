export type DiffLine = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string };

/** Above so many pairs of lines a browser would stop for a moment. */
const pairsMax = 4_000_000;

/**
 * The difference of two texts, line by line, by their longest common subsequence.
 * @returns undefined if they are too long for that
 */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] | undefined {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): readonly DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  const middle = diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return middle && [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - end))];
}

function diffMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] | undefined {
  if (before.length * after.length > pairsMax) return undefined;
  const width = after.length + 1;
  // The length of the longest common subsequence of the rests that begin at each pair.
  const lengths = new Uint16Array((before.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        before[row] === after[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old = '', fresh = ''] = [before[row], after[column]];
    if (row < before.length && column < after.length && old === fresh) {
      lines.push({ kind: 'same', text: old });
      row += 1;
      column += 1;
    } else if (column >= after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: 'removed', text: old });
      row += 1;
    } else {
      lines.push({ kind: 'added', text: fresh });
      column += 1;
    }
  }
  return lines;
}
