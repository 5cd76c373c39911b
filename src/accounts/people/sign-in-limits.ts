import type { Clock } from '../../platform/clock.ts';
import { networkOf } from '../network-of.ts';
import { personNameKey } from './person.ts';

export type SignInLimitSettings = {
  /** Failures that are remembered, in milliseconds. */
  readonly windowMs: number;
  /** Failures in that time after which the tries of one person, or one address, come one by one. */
  readonly failuresOfPerson: number;
  readonly failuresOfAddress: number;
  /** The time between two tries then. */
  readonly slowMs: number;
};

const signInLimitsDefault: SignInLimitSettings = {
  windowMs: 15 * 60_000,
  failuresOfPerson: 10,
  failuresOfAddress: 30,
  slowMs: 60_000,
};

export type PasswordTry = {
  /** Undefined if nobody has the name. */
  readonly personId: string | undefined;
  readonly name: string;
  readonly address: string | undefined;
};

/** A try that may be made. It counts as a failure until one of these is called. */
type AllowedTry = {
  /** The password was right, or was not checked. */
  readonly takeBack: () => void;
};

/**
 * Limits tries of passwords, in the memory of one process. A try counts when it begins, so that many at once do not
 * pass together. Names that nobody has are limited like others, so that a limit does not disclose which names exist;
 * they are counted apart, so that a flood of them does not push out the failures of a person.
 */
export type SignInLimits = {
  /** Begins a try, or says in how many seconds the next one may be made. */
  readonly begin: (attempt: PasswordTry) => AllowedTry | { readonly retryAfterSeconds: number };
};

/** The most that are counted of each kind. A further one replaces the one whose last try is longest ago. */
const countedMax = 10_000;

export function createSignInLimits(clock: Clock, settings: SignInLimitSettings = signInLimitsDefault): SignInLimits {
  const people = createCounts(settings, settings.failuresOfPerson);
  const unknown = createCounts(settings, settings.failuresOfPerson);
  const addresses = createCounts(settings, settings.failuresOfAddress);

  return {
    begin: ({ personId, name, address }) => {
      const nowMs = clock.monotonicMs();
      const ofPerson = personId === undefined ? unknown : people;
      const person = personId ?? personNameKey(name);
      const network = address === undefined ? '' : networkOf(address);
      const waitMs = Math.max(ofPerson.waitMs(person, nowMs), addresses.waitMs(network, nowMs));
      if (waitMs > 0) return { retryAfterSeconds: Math.ceil(waitMs / 1000) };
      ofPerson.add(person, nowMs);
      addresses.add(network, nowMs);
      return {
        takeBack: () => {
          ofPerson.remove(person, nowMs);
          addresses.remove(network, nowMs);
        },
      };
    },
  };
}

/** The times of the last failures by name. */
function createCounts({ windowMs, slowMs }: SignInLimitSettings, failuresMax: number) {
  const failures = new Map<string, readonly number[]>();
  return {
    waitMs: (name: string, nowMs: number): number => {
      const recent = (failures.get(name) ?? []).filter((atMs) => atMs > nowMs - windowMs);
      if (recent.length < failuresMax) return 0;
      const [oldest = 0, last = 0] = [recent[0], recent.at(-1)];
      return Math.max(0, Math.min(last + slowMs, oldest + windowMs) - nowMs);
    },
    add: (name: string, atMs: number): void => {
      const times = [...(failures.get(name) ?? []), atMs].slice(-failuresMax);
      failures.delete(name);
      const [longestAgo] = failures.keys();
      if (failures.size >= countedMax && longestAgo !== undefined) failures.delete(longestAgo);
      failures.set(name, times);
    },
    remove: (name: string, atMs: number): void => {
      const times = failures.get(name) ?? [];
      const at = times.indexOf(atMs);
      if (at === -1) return;
      if (times.length === 1) failures.delete(name);
      else failures.set(name, times.toSpliced(at, 1));
    },
  };
}
