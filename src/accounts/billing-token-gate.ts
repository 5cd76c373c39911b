import { hash } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { BillingToken } from './api-key.ts';
import type { BillingTokenAuthenticator } from './billing-token-authenticator.ts';

/** Not now: the same request may succeed after so many seconds. */
type TooManyRequests = { readonly retryAfterSeconds: number; readonly message: string };

/** Who may ask the monitor, and how often. */
export type BillingTokenGate = {
  /**
   * As BillingTokenAuthenticator.authenticate, and refuses a token that asks too often and an address that guesses.
   * @param address where the request comes from
   */
  readonly authenticate: (
    secret: string,
    signal: AbortSignal,
    address: string,
  ) => Promise<BillingToken | undefined | 'unavailable' | TooManyRequests>;
};

export type BillingTokenGateLimits = {
  /** Of one token. As many may come at once. */
  readonly requestsPerMinute: number;
  /** Tokens that open nothing, from one address. As many may come at once. */
  readonly wrongTokensPerMinute: number;
};

export const billingTokenGateLimitsDefault: BillingTokenGateLimits = { requestsPerMinute: 600, wrongTokensPerMinute: 30 };

/** Addresses and tokens that are remembered at most; who comes when there are more is remembered in place of the one seen longest ago. */
const countedMax = 10_000;
/** For how long a token that opened is let past the limit of its address. */
const knownMs = 3_600_000;

/**
 * Limits how often each token asks, and how often one address may come with tokens that open nothing. An address beyond that is answered with the limit whatever it sends, so that a guess
 * that is right looks like one that is wrong; only tokens that opened before from anywhere still do, so that one client with a wrong token does not lock out the others behind its proxy.
 */
export function createBillingTokenGate(options: {
  readonly authenticate: BillingTokenAuthenticator['authenticate'];
  readonly clock: Clock;
  readonly limits?: BillingTokenGateLimits;
  /** Told of each request that a token opened. */
  readonly onUse?: (token: BillingToken) => void;
}): BillingTokenGate {
  const { authenticate, clock, limits = billingTokenGateLimitsDefault, onUse } = options;
  const requests = createAllowances(limits.requestsPerMinute, clock);
  const wrongTokens = createAllowances(limits.wrongTokensPerMinute, clock);
  const knownUntilMs = new Map<string, number>();

  const isKnown = (digest: string): boolean => (knownUntilMs.get(digest) ?? -Infinity) > clock.monotonicMs();

  return {
    authenticate: async (secret, signal, address) => {
      const network = networkOf(address);
      const digest = hash('sha256', secret, 'base64url');
      const waitSeconds = isKnown(digest) ? 0 : wrongTokens.waitSeconds(network);
      if (waitSeconds > 0) return { retryAfterSeconds: waitSeconds, message: 'too many invalid tokens from this address; try again later' };
      const token = await authenticate(secret, signal);
      if (token === 'unavailable') return token;
      if (token === undefined) {
        knownUntilMs.delete(digest);
        wrongTokens.take(network);
        return undefined;
      }
      keep(knownUntilMs, digest, clock.monotonicMs() + knownMs);
      const retryAfterSeconds = requests.waitSeconds(token.id);
      if (retryAfterSeconds > 0) return { retryAfterSeconds, message: 'this token asks too often; try again later' };
      requests.take(token.id);
      onUse?.(token);
      return token;
    },
  };
}

/** What each of many may still do: `perMinute` at once, and as many in every minute. */
function createAllowances(perMinute: number, clock: Clock) {
  const msEach = 60_000 / perMinute;
  /** When each would have back all it may do. */
  const fullAtMs = new Map<string, number>();
  return {
    /** Whole seconds until one more is allowed; 0 when it is. */
    waitSeconds: (name: string): number => {
      const behindMs = (fullAtMs.get(name) ?? -Infinity) - clock.monotonicMs();
      return behindMs <= 60_000 - msEach ? 0 : Math.ceil((behindMs - (60_000 - msEach)) / 1000);
    },
    take: (name: string): void => {
      keep(fullAtMs, name, Math.max(fullAtMs.get(name) ?? -Infinity, clock.monotonicMs()) + msEach);
    },
  };
}

function keep(map: Map<string, number>, name: string, value: number): void {
  map.delete(name);
  const [oldest] = map.keys();
  if (map.size >= countedMax && oldest !== undefined) map.delete(oldest);
  map.set(name, value);
}

/** An IPv4 address, or the 64 bits that one customer usually has of IPv6. */
function networkOf(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::', 2);
  const groups = head.split(':');
  if (tail !== undefined) {
    const tailGroups = tail === '' ? [] : tail.split(':');
    while (groups.length + tailGroups.length < 8) groups.push('0');
    groups.push(...tailGroups);
  }
  return groups.slice(0, 4).join(':');
}
