import type { AuditEntry } from '../audit-entry.ts';

/** A receiver of the audit log. */
export type AuditSink = {
  /** The name in the configuration, under which the store keeps how far it has come. */
  readonly name: string;
  /** Sends rows, oldest first. Resolves when the receiver has them. Rejects if it may not have all of them. */
  readonly send: (entries: readonly AuditEntry[], signal: AbortSignal) => Promise<void>;
};

/** The store that sinks need. All methods reject with the store's error. */
export type AuditSinkStore = {
  /**
   * Leases a sink if there are rows that it does not have, and resolves with the sequence of the last one that it has.
   * Undefined if it has all, or if another process has the lease.
   */
  readonly claimAuditSink: (claim: {
    readonly name: string;
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
  }) => Promise<number | undefined>;
  /** Records that a sink has the rows up to a sequence, and ends the lease. False if the lease is lost. */
  readonly advanceAuditSink: (advance: { readonly name: string; readonly owner: string; readonly sequence: number }) => Promise<boolean>;
};
