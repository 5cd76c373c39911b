/** The numbers by which targets are judged. Their sources: docs/decisions/2026-11-21-health-and-retries.md. */
export type HealthSettings = {
  /**
   * Consecutive failures that begin an outage, and how many of them may be of one caller if it concerns all callers.
   */
  readonly consecutiveFailures: number;
  readonly failuresPerCaller: number;
  /** The share of failures that begins an outage, and the attempts in the window that this needs. */
  readonly failureShare: number;
  readonly attemptsMin: number;
  /** For an outage of all callers: the attempts of callers other than the one with the most failures. */
  readonly othersMin: number;
  /**
   * Consecutive refusals of a model that begin an outage, because one request may be refused for its content; and how
   * many of them may be of one caller if it concerns all callers.
   */
  readonly modelRefusals: number;
  readonly refusalsPerCaller: number;
  readonly failing: OutagePacing;
  readonly rejected: OutagePacing;
  /** A target that fails again within this time continues with the outage duration that it had reached. */
  readonly relapseMs: number;
  readonly coolDown: CoolDownSettings;
  readonly suspicion: SuspicionSettings;
  /** After this time without a result of the running probe, another one is sent. */
  readonly probeWaitsMs: number;
  /** A target that was not used for this time is forgotten: a healthy one, and one with an outage. */
  readonly forgetHealthyMs: number;
  readonly forgetTroubledMs: number;
  /** The most targets that are remembered. */
  readonly targetsMax: number;
};

/**
 * The duration of the first outage, and of the longest. Each is varied by up to a fifth, so that gateways do not probe
 * together.
 */
export type OutagePacing = { readonly firstMs: number; readonly mostMs: number };

/** How long other targets are preferred after a rate limit. */
export type CoolDownSettings = {
  /** The first cool-down if the vendor names none. It doubles with every further limit. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** Bounds of a time that a vendor names. */
  readonly namedLeastMs: number;
  readonly namedMostMs: number;
  /** After this time without a limit the cool-down starts from the first again. */
  readonly forgetMs: number;
};

/** When the wait for answers makes a target suspect. */
export type SuspicionSettings = {
  /** The number of attempts that must wait. */
  readonly waitingMin: number;
  readonly leastMs: number;
  /** A multiple of the usual time. */
  readonly usualTimes: number;
  /** The limit if the usual time is unknown. */
  readonly unknownMs: number;
  /** A suspect target that is avoided gets one call after this time without any. */
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
  coolDown: { firstMs: 2 * second, mostMs: 30 * second, namedLeastMs: second, namedMostMs: minute, forgetMs: minute },
  suspicion: { waitingMin: 5, leastMs: 300, usualTimes: 4, unknownMs: 3 * second, trialMs: 10 * second },
  probeWaitsMs: 5 * second,
  forgetHealthyMs: minute,
  forgetTroubledMs: 10 * minute,
  targetsMax: 10_000,
};
