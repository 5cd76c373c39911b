import type { AlertRule, Finding, Observation } from '../alert.ts';

/** The problems of some rules that can be read from the store. Rejects with the store's error. */
export type Condition = {
  /** All findings of these rules are complete: a problem that is missing has ended. */
  readonly rules: readonly AlertRule[];
  /** Shortest time between two searches. */
  readonly everyMs: number;
  readonly find: (context: FindContext) => Promise<readonly Finding[]>;
};

type FindContext = {
  readonly nowMs: number;
  /** The current observations of all gateways. */
  readonly observations: readonly Observation[];
};

/** Thresholds of the rules. */
export type AlertThresholds = {
  /** Percent of a spend limit, ascending. */
  readonly budgetPercents: readonly number[];
  /** Days for which a balance lasts, descending. */
  readonly balanceDays: readonly number[];
  /** How many times the busiest hour of the last seven days is unusual, and from which amount in nano-USD. */
  readonly spendRate: { readonly times: number; readonly leastNanoUsd: bigint };
  /** Days before the expiry of a key, descending. */
  readonly expiryDays: readonly number[];
};

export const defaultThresholds: AlertThresholds = {
  budgetPercents: [50, 80, 95, 100],
  balanceDays: [7, 2],
  spendRate: { times: 3, leastNanoUsd: 10_000_000_000n },
  expiryDays: [7, 1],
};
