import { randomUUID } from 'node:crypto';

import type { Logger } from '../../platform/log.ts';
import { attemptDelivery, type AttemptOutcome, type AttemptParts } from './attempt-delivery.ts';
import type { CallbackStore, Delivery } from './callback-store.ts';
import { CallbackKeyError } from './callback-vault.ts';
import { watchedEventType } from './create-event.ts';
import { createPlaces, type Places } from './places.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long after an attempt that failed the next one comes. After the last it is given up. As Standard Webhooks recommends. */
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
  /** Takes deliveries that only ask what became of something, see `watchedEventType`. Resolves with when to ask again, or undefined when that is over. */
  readonly watch?: (delivery: Delivery, url: string) => Promise<number | undefined>;
  /** Time between two looks at the store. */
  readonly pollMs?: number;
  /** Limit of an attempt. */
  readonly timeoutMs?: number;
  /** Attempts at a time, altogether, at one host and of one user: receivers that hang hold up nobody else's events, whatever they are called. */
  readonly inFlightMax?: number;
  readonly perHostMax?: number;
  readonly perUserMax?: number;
};

export type CallbackSender = {
  /** Takes what is due and is done with it, one round. Resolves with how many deliveries it took. */
  readonly round: () => Promise<number>;
  /** Begins to send, until it is closed. */
  readonly start: () => void;
  /** Ends attempts that are under way; they are made again after the lease, under the same id. */
  readonly close: () => Promise<void>;
};

type Parts = Required<Omit<CallbackSenderOptions, 'lookUp'>> &
  Pick<CallbackSenderOptions, 'lookUp'> & {
    readonly owner: string;
    readonly hosts: Places;
    readonly users: Places;
    readonly signal: AbortSignal;
  };

/**
 * Sends events to those who wanted to hear of them. What is to be sent is in the store, and what became of it; any number of senders share it by leases. An event may be sent twice, when a sender dies between sending
 * and writing that down: its id tells the receiver.
 */
export function createCallbackSender(options: CallbackSenderOptions): CallbackSender {
  const end = new AbortController();
  const parts: Parts = {
    ...defaults,
    ...options,
    owner: randomUUID(),
    hosts: createPlaces(options.perHostMax ?? defaults.perHostMax),
    users: createPlaces(options.perUserMax ?? defaults.perUserMax),
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
      parts.logger.warn({ err: error }, 'callbacks cannot be read from the store at the moment; it is tried again');
    }
    // What was taken may have been only the first of many.
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

/** Makes one attempt at a delivery that is ours for now, and writes down what became of it. Never rejects. */
async function deliver(parts: Parts, delivery: Delivery): Promise<void> {
  try {
    const url = parts.vault.openUrl(delivery.sealedUrl, delivery.id);
    if (delivery.eventType === watchedEventType) return await watch(parts, delivery, url);
    if (url === undefined) return await conclude(parts, delivery, unreadable);
    const leave = enterBoth(parts, URL.parse(url)?.host ?? '', delivery.userName);
    // There are as many under way as there may be: others are sent in the meantime.
    if (typeof leave === 'number')
      return await record(parts, delivery, { status: 'waiting', nextAttemptAtMs: parts.clock.nowMs() + leave * parts.timeoutMs });
    try {
      await conclude(parts, delivery, await attemptDelivery(parts, delivery, url, parts.signal));
    } finally {
      leave();
    }
  } catch (error) {
    if (parts.signal.aborted) return;
    const level = error instanceof CallbackKeyError ? 'error' : 'warn';
    parts.logger[level]({ delivery: delivery.id, err: error }, 'a callback could not be sent; it is tried again');
  }
}

/** Takes a place at a host and one of a user, or neither. */
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
    parts.logger.info({ delivery: delivery.id, subject: delivery.subject, attempts }, 'a callback was given up');
    return record(parts, delivery, { status: 'given-up', ...known, nextAttemptAtMs: nowMs });
  }
  // Receivers that came back are not met by all at once.
  return record(parts, delivery, {
    status: 'waiting',
    ...known,
    nextAttemptAtMs: nowMs + Math.round(delayMs * (0.9 + 0.2 * parts.random())),
  });
}

async function record({ store, owner }: Parts, delivery: Delivery, step: Step): Promise<void> {
  const { id, attempts, nextAttemptAtMs, lastStatus, lastProblem } = delivery;
  const known = { ...(lastStatus === undefined ? {} : { lastStatus }), ...(lastProblem === undefined ? {} : { lastProblem }) };
  // False means that the lease ran out and another has it: then what that one writes down counts.
  await store.recordAttempt({ id, owner, attempts, nextAttemptAtMs, ...(step.attempts === undefined ? known : {}), ...step });
}
