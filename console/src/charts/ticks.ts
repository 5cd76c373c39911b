/**
 * Round values for an axis from zero to at least `max`, by integers: 1, 2 or 5 times a power of ten apart.
 * @param wanted the number of steps that fit
 */
export function ticksFor(max: bigint, wanted: number): readonly bigint[] {
  if (max <= 0n) return [0n, 1n];
  const rough = max / BigInt(wanted) + 1n;
  const power = 10n ** BigInt(rough.toString().length - 1);
  const step = [1n, 2n, 5n, 10n].map((factor) => factor * power).find((each) => each >= rough) ?? 10n * power;
  const ticks: bigint[] = [];
  for (let value = 0n; value < max + step; value += step) ticks.push(value);
  return ticks;
}

/** A part of a whole as a number from 0 to 1, for lengths on the screen only. */
export function lengthOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 100_000n) / whole) / 100_000;
}
