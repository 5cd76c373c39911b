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

const roundMinutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440];

/**
 * The bars of a time axis that have words: at full hours, half hours and the like, not every so many bars.
 * @param minutes of each bar, the minute of its day on the clocks of the zone
 * @param least so many bars apart, so that words do not touch
 * @returns their places; where none is at a round time, every `least`
 */
export function roundPlaces(minutes: readonly number[], least: number): ReadonlySet<number> {
  const steps = minutes.slice(1).map((minute, index) => (minute - (minutes[index] ?? 0) + 1440) % 1440);
  const bar = Math.min(...steps.filter((step) => step > 0), 1440);
  const every = roundMinutes.find((each) => each >= bar * least) ?? 1440;
  const round = minutes.flatMap((minute, index) => (minute % every === 0 ? [index] : []));
  if (round.length === 0) return new Set(minutes.flatMap((_minute, index) => (index % least === 0 ? [index] : [])));
  // Bars of hours over many days: even one word a day may be too many.
  const [first = 0, second = first + least] = round;
  const step = Math.max(1, Math.ceil(least / (second - first)));
  return new Set(round.filter((_place, index) => index % step === 0));
}

const roundMonths = [1, 2, 3, 6, 12];

/**
 * The bars of an axis over months that have words: the first one of each month, or of every second, third, sixth or
 * twelfth.
 * @param isFirst of each bar, whether it is the first one of a month
 * @param least so many bars apart, so that words do not touch
 */
export function monthPlaces(isFirst: readonly boolean[], least: number): ReadonlySet<number> {
  const firsts = isFirst.flatMap((is, index) => (is ? [index] : []));
  const months = firsts.slice(1).map((place, index) => place - (firsts[index] ?? 0));
  const shortest = Math.min(...months, isFirst.length);
  const step = roundMonths.find((each) => each * shortest >= least) ?? 12;
  return new Set(firsts.filter((_place, index) => index % step === 0));
}

/** A part of a whole as a number from 0 to 1, for lengths on the screen only. */
export function lengthOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 100_000n) / whole) / 100_000;
}
