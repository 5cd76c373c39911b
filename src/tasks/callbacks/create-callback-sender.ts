import { randomUUID } from 'node:crypto';

import type { Logger } from '../../platform/log.ts';
import { attemptDelivery, type AttemptOutcome, type AttemptParts } from './attempt-delivery.ts';
import type { CallbackStore, Delivery } from './callback-store.ts';
import { CallbackKeyError } from './callback-vault.ts';
import { watchedEventType } from './create-event.ts';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from './concurrency-limiter.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses after failed attempts, as Standard Webhooks recommends. After the last one the delivery is abandoned. */
const retryAfterMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
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

export type CallbackSender = {
  /** Leases and processes the due deliveries, once. Resolves with their number. */
  readonly round: () => Promise<number>;
  /** Begins to send, until it is closed. */
  readonly start: () => void;
  /** Aborts running attempts. They are repeated after the lease, under the same id. */
  readonly close: () => Promise<void>;
};

type Parts = Required<Omit<CallbackSenderOptions, 'lookUp'>> &
  Pick<CallbackSenderOptions, 'lookUp'> & {
    readonly owner: string;
    readonly hosts: ConcurrencyLimiter;
    readonly users: ConcurrencyLimiter;
    readonly signal: AbortSignal;
  };

/**
 * Sends events to receivers. Deliveries and their outcomes are in the store, and any number of senders share them by
 * leases. If a sender dies between an attempt and its record, the event is sent twice with the same id.
 */
export function createCallbackSender(options: CallbackSenderOptions): CallbackSender {
  const end = new AbortController();
  const parts: Parts = {
    ...defaults,
    ...options,
    owner: randomUUID(),
    hosts: createConcurrencyLimiter(options.perHostMax ?? defaults.perHostMax),
    users: createConcurrencyLimiter(options.perUserMax ?? defaults.perUserMax),
    signal: end.signal,
  };
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let sweptAtMs: number | undefined;
  const take = async (): Promise<readonly Promise<void>[]> => {
    const limit = parts.inFlightMax - running.size;
    if (limit <= 0) return [];
    const nowMs = parts.clock.nowMs();
    const leaseUntilMs = nowMs + parts.timeoutMs + minute;
    const claimed = await parts.store.claimDeliveries({ owner: parts.owner, nowMs, leaseUntilMs, limit });
    return claimed.map((delivery) => {
      const work = deliver(parts, delivery).finally(() => running.delete(work));
      running.add(work);
      return work;
    });
  };
  const sweep = async (): Promise<void> => {
    const nowMs = parts.clock.nowMs();
    if (sweptAtMs !== undefined && nowMs - sweptAtMs < sweepEveryMs) return;
    sweptAtMs = nowMs;
    while (!end.signal.aborted && (await parts.store.sweepDeliveries({ beforeMs: nowMs - keptMs, limit: sweepRows })) === sweepRows);
  };
  const look = async (): Promise<void> => {
    let taken = 0;
    try {
      await sweep();
      taken = (await take()).length;
    } catch (error) {
      parts.logger.warn({ err: error }, 'reading callbacks from the store failed');
    }
    // There may be more due deliveries.
    if (!end.signal.aborted) timer = setTimeout(() => void (looking = look()), taken === 0 ? parts.pollMs : 10).unref();
  };
  let looking: Promise<void> = Promise.resolve();
  return {
    round: async () => {
      await sweep();
      const taken = await take();
      await Promise.all(taken);
      return taken.length;
    },
    start: () => void (looking = look()),
    close: async () => {
      end.abort(new Error('the sender was closed'));
      clearTimeout(timer);
      await looking;
      await Promise.all(running);
    },
  };
}

/** Makes one attempt at a leased delivery, and records the outcome. Never rejects. */
async function deliver(parts: Parts, delivery: Delivery): Promise<void> {
  try {
    const url = parts.vault.openUrl(delivery.sealedUrl, delivery.id);
    if (delivery.eventType === watchedEventType) return await watch(parts, delivery, url);
    if (url === undefined) return await conclude(parts, delivery, unreadable);
    const leave = enterBoth(parts, URL.parse(url)?.host ?? '', delivery.userName);
    // The limit of concurrent attempts is reached; other deliveries are sent meanwhile.
    if (typeof leave === 'number')
      return await record(parts, delivery, { status: 'waiting', nextAttemptAtMs: parts.clock.nowMs() + leave * parts.timeoutMs });
    try {
      await conclude(parts, delivery, await attemptDelivery(parts, delivery, url, parts.signal));
    } finally {
      leave();
    }
  } catch (error) {
    if (parts.signal.aborted) return;
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
