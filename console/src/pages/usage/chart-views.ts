/** How the chart shows the sums: of each bucket, of all buckets until then, or as parts of each bucket. */
export const chartViews = ['sums', 'cumulative', 'share'] as const;

/** A whole of a share, in ten-thousandths of a percent. */
const wholeShare = 1_000_000n;

/** The sums of all buckets until each one. */
export function accumulate(values: readonly bigint[]): readonly bigint[] {
  let sum = 0n;
  return values.map((value) => (sum += value));
}

/**
 * Each value as a part of the sum of its bucket, in millionths. Rounded down, and the largest gets what is left, so that
 * the parts of a bucket are a whole.
 */
export function sharesOf(lines: readonly (readonly bigint[])[]): readonly (readonly bigint[])[] {
  const shares = lines.map((values) => values.map(() => 0n));
  for (let at = 0; at < (lines[0]?.length ?? 0); at += 1) {
    const sum = lines.reduce((all, values) => all + (values[at] ?? 0n), 0n);
    if (sum === 0n) continue;
    let [left, largest] = [wholeShare, 0];
    lines.forEach((values, line) => {
      const part = ((values[at] ?? 0n) * wholeShare) / sum;
      left -= part;
      const row = shares[line];
      if (row !== undefined) row[at] = part;
      if ((values[at] ?? 0n) > (lines[largest]?.[at] ?? 0n)) largest = line;
    });
    const row = shares[largest];
    if (row !== undefined) row[at] = (row[at] ?? 0n) + left;
  }
  return shares;
}

/** `12.5 %`, of millionths. */
export function showMillionths(value: bigint): string {
  const tenths = (value + 500n) / 1000n;
  return `${tenths / 10n}.${tenths % 10n}\u202f%`;
}
