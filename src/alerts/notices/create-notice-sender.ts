import { randomUUID } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { createSendLoop, type SendLoop } from '../../tasks/callbacks/create-send-loop.ts';
import { retryAfterMs } from '../../tasks/callbacks/retry-schedule.ts';
import type { AlertStore, Notice } from '../alert-store.ts';
import type { Channels } from './channel.ts';
import { DeliveryError, type NoticeTransports, sendNotice } from './send-notice.ts';

const minute = 60_000;
const defaults = { pollMs: 1000, timeoutMs: 15_000, inFlightMax: 16, perChannelMax: 2 };

/** Messages by their outcome since the start. */
export type NoticeCounts = { readonly delivered: number; readonly failed: number; readonly givenUp: number };

export type NoticeSenderOptions = {
  readonly store: Pick<AlertStore, 'claimNotices' | 'recordNotice'>;
  readonly channels: () => Channels;
  readonly transports: NoticeTransports;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly pollMs?: number;
  /** Limit of an attempt. */
  readonly timeoutMs?: number;
};

export type NoticeSender = SendLoop & { readonly counts: () => NoticeCounts };

/**
 * Sends messages of alerts, with the retries of callbacks. Messages and their outcomes are in the store, and any number
 * of gateways share them by leases. A channel that hangs occupies two attempts and delays only its own messages.
 */
export function createNoticeSender(options: NoticeSenderOptions): NoticeSender {
  const { store, channels, transports, clock, logger, random } = options;
  const { pollMs, timeoutMs, inFlightMax, perChannelMax } = { ...defaults, ...options };
  const owner = randomUUID();
  const busy = new Map<string, number>();
  const counts = { delivered: 0, failed: 0, givenUp: 0 };

  const record = async (notice: Notice, outcome: Omit<Parameters<typeof store.recordNotice>[0], 'id' | 'owner'>): Promise<void> => {
    // False means that the lease has expired and another sender has it, whose record counts.
    await store.recordNotice({ id: notice.id, owner, ...outcome });
  };
  const conclude = async (notice: Notice, problem: string | undefined, isFinal: boolean): Promise<void> => {
    const attempts = notice.attempts + 1;
    const nowMs = clock.nowMs();
    const { id, channel } = notice;
    if (problem === undefined) {
      counts.delivered += 1;
      return await record(notice, { status: 'delivered', attempts, nextAttemptAtMs: nowMs, overAtMs: nowMs });
    }
    counts.failed += 1;
    const delayMs = isFinal ? undefined : retryAfterMs[attempts - 1];
    if (delayMs === undefined) {
      counts.givenUp += 1;
      logger.error({ notice: id, channel, problem, attempts }, 'alert message abandoned');
      return await record(notice, { status: 'given-up', attempts, nextAttemptAtMs: nowMs, overAtMs: nowMs, lastProblem: problem });
    }
    logger.warn({ notice: id, channel, problem, attempts }, 'sending an alert message failed');
    const nextAttemptAtMs = nowMs + Math.round(delayMs * (0.9 + 0.2 * random()));
    return await record(notice, { status: 'waiting', attempts, nextAttemptAtMs, lastProblem: problem });
  };
  const deliver = async (notice: Notice, stopped: AbortSignal): Promise<void> => {
    const { [notice.channel]: channel } = channels();
    if (channel === undefined) return await conclude(notice, 'the configuration has no such channel any more', true);
    const running = busy.get(notice.channel) ?? 0;
    if (running >= perChannelMax)
      return await record(notice, { status: 'waiting', attempts: notice.attempts, nextAttemptAtMs: clock.nowMs() + timeoutMs });
    busy.set(notice.channel, running + 1);
    try {
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([stopped, timeout]);
      const problem = await sendNotice(channel, notice, { transports, clock, signal }).then(
        () => undefined,
        (error: unknown) => {
          stopped.throwIfAborted();
          return timeout.aborted ? 'the receiver did not answer in time' : describe(error);
        },
      );
      await conclude(notice, problem, false);
    } finally {
      busy.set(notice.channel, (busy.get(notice.channel) ?? 1) - 1);
    }
  };
  const loop = createSendLoop<Notice>({
    claim: (limit) => {
      const nowMs = clock.nowMs();
      return store.claimNotices({ owner, nowMs, leaseUntilMs: nowMs + timeoutMs + minute, limit });
    },
    send: async (notice, stopped) => {
      try {
        await deliver(notice, stopped);
      } catch (error) {
        if (!stopped.aborted) logger.warn({ notice: notice.id, err: error }, 'recording an alert message failed');
      }
    },
    onFailure: (error) => logger.warn({ err: error }, 'reading alert messages from the store failed'),
    pollMs,
    inFlightMax,
  });
  return { ...loop, counts: () => ({ ...counts }) };
}

function describe(error: unknown): string {
  return error instanceof DeliveryError ? error.message : 'the receiver cannot be reached';
}
