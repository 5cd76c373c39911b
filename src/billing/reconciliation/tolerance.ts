import type { ComparedCost } from './cost-reconciliation.ts';
import { type ComparedUsage, percentOf } from './reconciliation.ts';

/** Vendors round their amounts: differences of less than a hundred-thousandth of a dollar do not count. */
const roundingNanoUsd = 10_000n;

const sizeOf = (nanoUsd: bigint): bigint => (nanoUsd < 0n ? -nanoUsd : nanoUsd);

/** Whether a difference is greater than `tolerance` percent of the greater count. */
export function isOver(compared: ComparedUsage, tolerance: number): boolean {
  return Math.abs(percentOf(compared)) > tolerance;
}

/** Whether a difference is more than rounding. */
export function isCostDifferent({ differenceNanoUsd }: ComparedCost): boolean {
  return sizeOf(differenceNanoUsd) >= roundingNanoUsd;
}

/** Whether a difference is greater than rounding explains, and than `tolerance` percent of the greater amount. */
export function isCostOver(compared: ComparedCost, tolerance: number): boolean {
  return isCostDifferent(compared) && Math.abs(costPercentOf(compared)) > tolerance;
}

/** The difference in percent of the greater of both amounts. */
export function costPercentOf({ listNanoUsd, theirNanoUsd, differenceNanoUsd }: ComparedCost): number {
  const greater = sizeOf(listNanoUsd) > sizeOf(theirNanoUsd) ? sizeOf(listNanoUsd) : sizeOf(theirNanoUsd);
  return greater === 0n ? 0 : (Number(differenceNanoUsd) * 100) / Number(greater);
}

/** A percentage such as `0.5`, from 0 to 99; undefined for any other text. */
export function readTolerance(text: string): number | undefined {
  return /^\d{1,2}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
}
