import type { OutagePacing } from './outage.ts';

/** The numbers by which targets are judged. Where they come from: docs/decisions/2026-11-21-health-and-retries.md. */
export type HealthSettings = {
  /** So many failures in a row take a target out. */
  readonly consecutiveFailures: number;
  /** So does this share of failures, once there were so many attempts within the window. */
  readonly failureShare: number;
  readonly attemptsMin: number;
  /** So many refusals of a model in a row, because one request may be refused for what is in it. */
  readonly modelRefusals: number;
  readonly failing: OutagePacing;
  readonly rejected: OutagePacing;
  /** A target that fails again so soon after it came back goes on with the time out that it had reached. */
  readonly relapseMs: number;
  readonly cooling: CoolingSettings;
  readonly suspicion: SuspicionSettings;
  /** Least time between two last resorts. */
  readonly lastResortFailingMs: number;
  readonly lastResortRejectedMs: number;
  /** For so long an attempt that is waiting keeps the next last resort from being tried. */
  readonly lastResortWaitsMs: number;
  /** A target that nobody used for this time is forgotten: where all was well, and where it was not and its time out is over. */
  readonly forgetHealthyMs: number;
  readonly forgetTroubledMs: number;
  /** No more targets are remembered. */
  readonly targetsMax: number;
};

/** For how long a rate limit makes others preferred. */
export type CoolingSettings = {
  /** The first time where the vendor names none; it doubles with every further limit. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** Bounds of what a vendor may name. */
  readonly namedLeastMs: number;
  readonly namedMostMs: number;
  /** After so long without a limit the doubling starts anew. */
  readonly forgetMs: number;
};

/** When waiting is too long. */
export type SuspicionSettings = {
  /** So many attempts have to wait. */
  readonly waitingMin: number;
  readonly leastMs: number;
  /** So many times the usual time. */
  readonly usualTimes: number;
  /** Where nothing is known of the usual time. */
  readonly unknownMs: number;
  /** A suspect target that others are preferred to is tried by one call after this time without any. */
  readonly trialMs: number;
};

const second = 1000;
const minute = 60 * second;

export const defaultHealthSettings: HealthSettings = {
  consecutiveFailures: 5,
  failureShare: 0.5,
  attemptsMin: 20,
  modelRefusals: 3,
  failing: { firstMs: 5 * second, mostMs: 30 * second },
  rejected: { firstMs: 30 * second, mostMs: 30 * second },
  relapseMs: minute,
  cooling: { firstMs: 2 * second, mostMs: 30 * second, namedLeastMs: second, namedMostMs: minute, forgetMs: minute },
  suspicion: { waitingMin: 5, leastMs: 300, usualTimes: 4, unknownMs: 3 * second, trialMs: 10 * second },
  lastResortFailingMs: second,
  lastResortRejectedMs: 5 * second,
  lastResortWaitsMs: 5 * second,
  forgetHealthyMs: minute,
  forgetTroubledMs: 10 * minute,
  targetsMax: 10_000,
};
