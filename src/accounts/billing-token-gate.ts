import { hash } from 'node:crypto';
import { createAllowances, keepRecent } from '../platform/allowances.ts';
import type { Clock } from '../platform/clock.ts';
import { networkOf } from './network-of.ts';
import type { BillingToken } from './api-key.ts';
import type { BillingTokenAuthenticator } from './billing-token-authenticator.ts';

/** A refusal because of a rate limit. The same request may succeed after `retryAfterSeconds`. */
type TooManyRequests = { readonly retryAfterSeconds: number; readonly message: string };

/** Authenticates requests to the monitor and limits their rate. */
export type BillingTokenGate = {
  /**
   * As BillingTokenAuthenticator.authenticate. Also refuses a token that sends too many requests, and an address that
   * sends too many wrong tokens.
   * @param address the client's address
   */
  readonly authenticate: (
    secret: string,
    signal: AbortSignal,
    address: string,
  ) => Promise<BillingToken | undefined | 'unavailable' | TooManyRequests>;
};

export type BillingTokenGateLimits = {
  /** Of one token. As many may arrive at once. */
  readonly requestsPerMinute: number;
  /** Wrong tokens from one address. As many may arrive at once. */
  readonly wrongTokensPerMinute: number;
};

export const billingTokenGateLimitsDefault: BillingTokenGateLimits = { requestsPerMinute: 600, wrongTokensPerMinute: 30 };

/** For how long a token that was accepted is exempt from the limit of its address. */
const exemptMs = 3_600_000;

/**
 * Limits the requests of each token, and the wrong tokens from each address. An address beyond its limit gets the
 * refusal for every token, so that a correct guess looks like a wrong one. Only tokens that were accepted before, from
 * any address, still work: one client with a wrong token does not lock out the others behind its proxy.
 */
export function createBillingTokenGate(options: {
  readonly authenticate: BillingTokenAuthenticator['authenticate'];
  readonly clock: Clock;
  readonly limits?: BillingTokenGateLimits;
  /** Called for each request with a valid token. */
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
      if (waitSeconds > 0) return { retryAfterSeconds: waitSeconds, message: 'too many invalid tokens from this address; retry later' };
      const token = await authenticate(secret, signal);
      if (token === 'unavailable') return token;
      if (token === undefined) {
        knownUntilMs.delete(digest);
        wrongTokens.take(network);
        return undefined;
      }
      keepRecent(knownUntilMs, digest, clock.monotonicMs() + exemptMs);
      const retryAfterSeconds = requests.waitSeconds(token.id);
      if (retryAfterSeconds > 0) return { retryAfterSeconds, message: 'too many requests with this token; retry later' };
      requests.take(token.id);
      onUse?.(token);
      return token;
    },
  };
}
