import { randomUUID } from 'node:crypto';

import type { Logger } from '../../platform/log.ts';
import { attemptDelivery, type AttemptOutcome, type AttemptParts } from './attempt-delivery.ts';
import type { CallbackStore, Delivery } from './callback-store.ts';
import { CallbackKeyError } from './callback-vault.ts';
import { watchedEventType } from './create-event.ts';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from './concurrency-limiter.ts';
import { createSendLoop, type SendLoop } from './create-send-loop.ts';
import { retryAfterMs } from './retry-schedule.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const keptMs = 30 * 24 * hour;
const sweepEveryMs = hour;
const sweepRows = 500;
const defaults = { pollMs: second, timeoutMs: 15 * second, inFlightMax: 32, perHostMax: 4, perUserMax: 16, watch: async () => undefined };

export type CallbackSenderOptions = Omit<AttemptParts, 'timeoutMs'> & {
  readonly store: CallbackStore;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** From 0 to 1. */
  readonly random: () => number;
  /**
   * Handles deliveries that only watch a subject, see `watchedEventType`. Resolves with the time of the next check, or
   * undefined after the end.
   */
  readonly watch?: (delivery: Delivery, url: string) => Promise<number | undefined>;
  /** Time between two queries of the store. */
  readonly pollMs?: number;
  /** Limit of an attempt. */
  readonly timeoutMs?: number;
  /**
   * The most attempts at a time: in total, to one host, and of one user, so that receivers that hang do not delay the
   * events of others.
   */
  readonly inFlightMax?: number;
  readonly perHostMax?: number;
  readonly perUserMax?: number;
};

type Parts = Required<Omit<CallbackSenderOptions, 'lookUp'>> &
  Pick<CallbackSenderOptions, 'lookUp'> & {
    readonly owner: string;
    readonly hosts: ConcurrencyLimiter;
    readonly users: ConcurrencyLimiter;
  };

/**
 * Sends events to receivers. Deliveries and their outcomes are in the store, and any number of senders share them by
 * leases. If a sender dies between an attempt and its record, the event is sent twice with the same id.
 */
export function createCallbackSender(options: CallbackSenderOptions): SendLoop {
  const parts: Parts = {
    ...defaults,
    ...options,
    owner: randomUUID(),
    hosts: createConcurrencyLimiter(options.perHostMax ?? defaults.perHostMax),
    users: createConcurrencyLimiter(options.perUserMax ?? defaults.perUserMax),
  };
  const { store, clock, owner, timeoutMs, pollMs, inFlightMax, logger } = parts;
  let sweptAtMs: number | undefined;
  return createSendLoop<Delivery>({
    claim: (limit) => {
      const nowMs = clock.nowMs();
      return store.claimDeliveries({ owner, nowMs, leaseUntilMs: nowMs + timeoutMs + minute, limit });
    },
    send: (delivery, stopped) => deliver(parts, delivery, stopped),
    sweep: async (stopped) => {
      const nowMs = clock.nowMs();
      if (sweptAtMs !== undefined && nowMs - sweptAtMs < sweepEveryMs) return;
      sweptAtMs = nowMs;
      while (!stopped.aborted && (await store.sweepDeliveries({ beforeMs: nowMs - keptMs, limit: sweepRows })) === sweepRows);
    },
    onFailure: (error) => logger.warn({ err: error }, 'reading callbacks from the store failed'),
    pollMs,
    inFlightMax,
  });
}

/** Makes one attempt at a leased delivery, and records the outcome. Never rejects. */
async function deliver(parts: Parts, delivery: Delivery, stopped: AbortSignal): Promise<void> {
  try {
    const url = parts.vault.openUrl(delivery.sealedUrl, delivery.id);
    if (delivery.eventType === watchedEventType) return await watch(parts, delivery, url);
    if (url === undefined) return await conclude(parts, delivery, unreadable);
    const leave = enterBoth(parts, URL.parse(url)?.host ?? '', delivery.userName);
    // The limit of concurrent attempts is reached; other deliveries are sent meanwhile.
    if (typeof leave === 'number')
      return await record(parts, delivery, { status: 'waiting', nextAttemptAtMs: parts.clock.nowMs() + leave * parts.timeoutMs });
    try {
      await conclude(parts, delivery, await attemptDelivery(parts, delivery, url, stopped));
    } finally {
      leave();
    }
  } catch (error) {
    if (stopped.aborted) return;
    if (error instanceof CallbackKeyError)
      parts.logger.error({ delivery: delivery.id, err: error }, 'callback secrets could not be opened');
    else parts.logger.warn({ delivery: delivery.id, err: error }, 'sending a callback failed');
  }
}

/** Takes a slot of the host and one of the user, or neither. */
function enterBoth({ hosts, users }: Parts, host: string, userName: string): (() => void) | number {
  const leaveHost = hosts.enter(host);
  if (typeof leaveHost === 'number') return leaveHost;
  const leaveUser = users.enter(userName);
  if (typeof leaveUser === 'number') {
    leaveHost();
    return leaveUser;
  }
  return () => {
    leaveHost();
    leaveUser();
  };
}

async function watch(parts: Parts, delivery: Delivery, url: string | undefined): Promise<void> {
  const again = url === undefined ? undefined : await parts.watch(delivery, url);
  const nowMs = parts.clock.nowMs();
  if (again === undefined) return record(parts, delivery, { status: 'delivered', deliveredAtMs: nowMs, nextAttemptAtMs: nowMs });
  return record(parts, delivery, { status: 'waiting', nextAttemptAtMs: again });
}

const unreadable: AttemptOutcome = {
  type: 'failed',
  problem: 'the address cannot be read: it was sealed under another key',
  isFinal: true,
};

type Step = Pick<Delivery, 'status'> &
  Partial<Pick<Delivery, 'attempts' | 'nextAttemptAtMs' | 'lastStatus' | 'lastProblem' | 'deliveredAtMs'>>;

async function conclude(parts: Parts, delivery: Delivery, outcome: AttemptOutcome): Promise<void> {
  const attempts = delivery.attempts + 1;
  const nowMs = parts.clock.nowMs();
  if (outcome.type === 'delivered')
    return record(parts, delivery, {
      status: 'delivered',
      attempts,
      lastStatus: outcome.status,
      deliveredAtMs: nowMs,
      nextAttemptAtMs: nowMs,
    });
  const { problem: lastProblem, status: lastStatus, isFinal } = outcome;
  const known = { attempts, lastProblem, ...(lastStatus === undefined ? {} : { lastStatus }) };
  const delayMs = isFinal ? undefined : retryAfterMs[attempts - 1];
  if (delayMs === undefined) {
    parts.logger.info({ delivery: delivery.id, subject: delivery.subject, attempts }, 'callback abandoned');
    return record(parts, delivery, { status: 'given-up', ...known, nextAttemptAtMs: nowMs });
  }
  // The jitter prevents that a recovered receiver gets all events at once.
  return record(parts, delivery, {
    status: 'waiting',
    ...known,
    nextAttemptAtMs: nowMs + Math.round(delayMs * (0.9 + 0.2 * parts.random())),
  });
}

async function record({ store, owner }: Parts, delivery: Delivery, step: Step): Promise<void> {
  const { id, attempts, nextAttemptAtMs, lastStatus, lastProblem } = delivery;
  const known = { ...(lastStatus === undefined ? {} : { lastStatus }), ...(lastProblem === undefined ? {} : { lastProblem }) };
  // False means that the lease has expired and another sender has it, whose record counts.
  await store.recordAttempt({ id, owner, attempts, nextAttemptAtMs, ...(step.attempts === undefined ? known : {}), ...step });
}
