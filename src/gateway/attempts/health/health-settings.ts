/** The numbers by which targets are judged. Where they come from: docs/decisions/2026-11-21-health-and-retries.md. */
export type HealthSettings = {
  /** So many failures in a row make others preferred, and only so many of them may be calls of one caller where it is for all. */
  readonly consecutiveFailures: number;
  readonly failuresPerCaller: number;
  /** So does this share of failures, once there were so many attempts within the window. */
  readonly failureShare: number;
  readonly attemptsMin: number;
  /** Without the caller whose calls failed most, there have to be so many attempts where it is for all. */
  readonly othersMin: number;
  /** So many refusals of a model in a row, because one request may be refused for what is in it; of one caller so many, where it is for all. */
  readonly modelRefusals: number;
  readonly refusalsPerCaller: number;
  readonly failing: OutagePacing;
  readonly rejected: OutagePacing;
  /** A target that fails again so soon after it came back goes on with the time out that it had reached. */
  readonly relapseMs: number;
  readonly cooling: CoolingSettings;
  readonly suspicion: SuspicionSettings;
  /** A probe that has been under way for so long is joined by the next. */
  readonly probeWaitsMs: number;
  /** A target that nobody used for this time is forgotten: where all was well, and where it was not and its time out is over. */
  readonly forgetHealthyMs: number;
  readonly forgetTroubledMs: number;
  /** No more targets are remembered. */
  readonly targetsMax: number;
};

/** How long something is out, the first time and at most. Each time is moved by up to a fifth, so that gateways do not try together. */
export type OutagePacing = { readonly firstMs: number; readonly mostMs: number };

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
  failuresPerCaller: 3,
  failureShare: 0.5,
  attemptsMin: 20,
  othersMin: 5,
  modelRefusals: 3,
  refusalsPerCaller: 2,
  failing: { firstMs: 5 * second, mostMs: 30 * second },
  rejected: { firstMs: 30 * second, mostMs: 30 * second },
  relapseMs: minute,
  cooling: { firstMs: 2 * second, mostMs: 30 * second, namedLeastMs: second, namedMostMs: minute, forgetMs: minute },
  suspicion: { waitingMin: 5, leastMs: 300, usualTimes: 4, unknownMs: 3 * second, trialMs: 10 * second },
  probeWaitsMs: 5 * second,
  forgetHealthyMs: minute,
  forgetTroubledMs: 10 * minute,
  targetsMax: 10_000,
};
