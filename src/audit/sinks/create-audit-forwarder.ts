import { randomUUID } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import { createDeliveryRounds } from '../../platform/delivery-rounds.ts';
import type { Logger } from '../../platform/log.ts';
import type { AuditStore } from '../audit-entry.ts';
import type { AuditSink, AuditSinkStore } from './audit-sink.ts';

const pageRows = 200;
const defaults = { everyMs: 5000, timeoutMs: 15_000 };
const leaseMarginMs = 60_000;

export type AuditForwarderOptions = {
  readonly store: Pick<AuditStore, 'readAudit'> & AuditSinkStore;
  /** The sinks of the configuration in force. */
  readonly sinks: () => readonly AuditSink[];
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Time between two looks for new rows. */
  readonly everyMs?: number;
  /** Limit of sending one page. */
  readonly timeoutMs?: number;
};

export type AuditForwarder = {
  /** Sends all rows that are due, to all sinks at the same time. Never rejects. */
  readonly round: () => Promise<void>;
  readonly start: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Sends the rows of the audit log to sinks: in order and at least once. How far a sink has come is in the store, and
 * gateways take turns by leases. A sink that fails is retried after growing pauses, and delays no other sink and no
 * change.
 */
export function createAuditForwarder(options: AuditForwarderOptions): AuditForwarder {
  const { store, sinks, clock, logger } = options;
  const { everyMs, timeoutMs } = { ...defaults, ...options };
  const owner = randomUUID();
  const rounds = createDeliveryRounds({
    clock,
    everyMs,
    timeoutMs,
    onFailure: (sink, err) => logger.warn({ sink, err }, 'sending the audit log to a sink failed'),
    onRecovery: (sink) => logger.info({ sink }, 'audit sink works again'),
  });

  /** Sends one page. False if there is nothing more to send now. */
  const sendPage = async ({ name, send }: AuditSink): Promise<boolean> => {
    const nowMs = clock.nowMs();
    const after = await store.claimAuditSink({ name, owner, nowMs, leaseUntilMs: nowMs + timeoutMs + leaseMarginMs });
    if (after === undefined) return false;
    const page = await store.readAudit(after, pageRows);
    const last = page.at(-1);
    if (last === undefined) return false;
    await send(page, rounds.limit());
    // False means that the lease has expired: another process sends these rows again.
    return await store.advanceAuditSink({ name, owner, sequence: last.sequence });
  };
  const sendAll = async (sink: AuditSink): Promise<void> => {
    while (!rounds.ended.aborted && (await sendPage(sink)));
  };
  const round = (): Promise<void> => rounds.deliver(sinks(), sendAll);
  return { round, start: () => rounds.start(round), close: rounds.close };
}
