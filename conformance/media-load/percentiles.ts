/** The median, the 99th percentile and the maximum of some measurements. */
export type Percentiles = { readonly p50: number; readonly p99: number; readonly max: number };

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
