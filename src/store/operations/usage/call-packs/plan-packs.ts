/** A part of a bucket, in Unix milliseconds: `[fromMs, untilMs)`. */
export type Span = { readonly position: number; readonly fromMs: number; readonly untilMs: number };

/** Packed sums of calls accepted in `[fromMs, untilMs)`. */
export type PackedSpan = { readonly fromMs: number; readonly untilMs: number; readonly number: number };

/** The packs that lie in the spans, the longest first, and what of the spans they leave. */
export type PackPlan = {
  readonly taken: readonly (PackedSpan & { readonly position: number })[];
  readonly gaps: readonly Span[];
};

/** Covers spans with packs, in one pass over each. @param packs of which no two overlap, in any order */
export function coverSpans(spans: readonly Span[], packs: readonly PackedSpan[]): PackPlan {
  const startsAt = new Map(packs.map((pack) => [pack.fromMs, pack]));
  const starts = [...startsAt.keys()].toSorted((one, other) => one - other);
  const taken: (PackedSpan & { readonly position: number })[] = [];
  const gaps: Span[] = [];
  for (const { position, fromMs, untilMs } of spans) {
    let place = firstAtLeast(starts, fromMs);
    for (let atMs = fromMs; atMs < untilMs;) {
      const pack = startsAt.get(atMs);
      if (pack !== undefined && pack.untilMs <= untilMs) {
        taken.push({ ...pack, position });
        atMs = pack.untilMs;
        continue;
      }
      while ((starts[place] ?? Infinity) <= atMs) place += 1;
      const endMs = Math.min(untilMs, starts[place] ?? Infinity);
      const last = gaps.at(-1);
      if (last?.position === position && last.untilMs === atMs) gaps[gaps.length - 1] = { ...last, untilMs: endMs };
      else gaps.push({ position, fromMs: atMs, untilMs: endMs });
      atMs = endMs;
    }
  }
  return { taken, gaps };
}

/** The place of the first number that is not less, in ascending numbers. */
function firstAtLeast(numbers: readonly number[], least: number): number {
  let [from, until] = [0, numbers.length];
  while (from < until) {
    const middle = (from + until) >> 1;
    if ((numbers[middle] ?? 0) < least) from = middle + 1;
    else until = middle;
  }
  return from;
}
