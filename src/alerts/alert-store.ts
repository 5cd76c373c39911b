import type { Alert, AlertIdentity, Observation } from './alert.ts';

/** The event of a message: a problem began or reached the next threshold, it ended, or an operator tests a channel. */
export type NoticeEvent = 'firing' | 'resolved' | 'test';

/** A message for one channel. */
export type NewNotice = {
  /** The same for repeated attempts, and for gateways that find the same problem. */
  readonly id: string;
  readonly channel: string;
  readonly event: NoticeEvent;
  readonly rule: string;
  readonly subject: string;
  /** NoticeContent as JSON. */
  readonly content: string;
  readonly createdAtMs: number;
};

export type NoticeStatus = 'waiting' | 'delivered' | 'given-up';

export type Notice = NewNotice & {
  readonly status: NoticeStatus;
  readonly attempts: number;
  readonly nextAttemptAtMs: number;
  /** Why the last attempt failed, without the receiver's own text. */
  readonly lastProblem?: string;
};

/** The observations of one gateway. */
export type NodeReport = { readonly nodeId: string; readonly atMs: number; readonly observations: readonly Observation[] };

/** The spend of a user in one hour (UTC), in nano-USD. `hour` counts from 1970. */
export type HourlySpend = { readonly userName: string; readonly hour: number; readonly nanoUsd: bigint };

/** The store that alerts need. All methods reject with the store's error. */
export type AlertStore = {
  /** Alerts in a state: open ones with the oldest first, resolved ones with the newest end first. */
  readonly listAlerts: (filter: { readonly state: 'open' | 'resolved'; readonly limit: number }) => Promise<readonly Alert[]>;
  readonly findAlert: (identity: AlertIdentity) => Promise<Alert | undefined>;
  /**
   * Writes an alert and its messages in one transaction, if the stored version is the one before. False if another
   * gateway was faster; then nothing is written.
   */
  readonly changeAlert: (alert: Alert, notices: readonly NewNotice[]) => Promise<boolean>;
  /** Replaces the report of a gateway. */
  readonly putNodeReport: (report: NodeReport) => Promise<void>;
  /** Reports since a time, and of gateways that have reported something. */
  readonly listNodeReports: (sinceMs: number) => Promise<readonly NodeReport[]>;
  /** Spend by user and hour, from `fromHour` on. */
  readonly listHourlySpend: (fromHour: number) => Promise<readonly HourlySpend[]>;
  /** Adds messages. An existing id is not changed. */
  readonly insertNotices: (notices: readonly NewNotice[]) => Promise<void>;
  /** Leases due messages that no other process works on. */
  readonly claimNotices: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly limit: number;
  }) => Promise<readonly Notice[]>;
  /** Records the outcome of an attempt, and ends the lease. False if the lease is lost. */
  readonly recordNotice: (
    attempt: Pick<Notice, 'id' | 'status' | 'attempts' | 'nextAttemptAtMs' | 'lastProblem'> & {
      readonly owner: string;
      /** When it was delivered or given up. */
      readonly overAtMs?: number;
    },
  ) => Promise<boolean>;
  /** Newest first. */
  readonly listNotices: (filter: { readonly limit: number; readonly undelivered: boolean }) => Promise<readonly Notice[]>;
  /** Deletes resolved alerts, ended messages and reports from before a time. Resolves with the number of rows. */
  readonly sweepAlerts: (sweep: { readonly beforeMs: number; readonly limit: number }) => Promise<number>;
};
