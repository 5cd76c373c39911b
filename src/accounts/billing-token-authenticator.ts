import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { BillingToken, FoundBillingToken } from './api-key.ts';
import { hashSecret } from './hash-secret.ts';
import { secretCharactersMax } from './secret-limits.ts';

/** Finds the billing token that a secret opens. */
export type BillingTokenAuthenticator = {
  /**
   * The token that a secret opens, or undefined if there is none. `unavailable`: the store does not answer, so the
   * caller must not learn that the token is wrong. A deletion takes effect within a second; an expiry and the end of a
   * replaced secret at once. Rejects only with the reason of the signal.
   */
  readonly authenticate: (secret: string, signal: AbortSignal) => Promise<BillingToken | undefined | 'unavailable'>;
};

export type BillingTokenAuthenticatorOptions = {
  readonly store: Pick<AccountsStore, 'pepper' | 'findBillingTokenByHash'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long to wait for an answer of the store. Default 2 s. */
  readonly storeTimeoutMs?: number;
};

/** How long an answer of the store, positive or negative, is reused, and how many are cached. */
const answerTtlMs = 1000;
const answersMax = 1000;
/** The most concurrent look-ups; a further one gets `unavailable`. */
const lookUpsMax = 64;

type Answer = { readonly token: FoundBillingToken | undefined; readonly untilMs: number };

/**
 * Tokens are few and requests to the monitor are rare: every token that is not cached is a look-up, and the number of
 * concurrent look-ups is bounded.
 */
export function createBillingTokenAuthenticator(options: BillingTokenAuthenticatorOptions): BillingTokenAuthenticator {
  const { store, clock, logger, storeTimeoutMs = 2000 } = options;
  const answers = new Map<string, Answer>();
  let pepper: string | undefined;
  let lookUps = 0;

  function remember(hash: string, token: FoundBillingToken | undefined): void {
    const [oldest] = answers.keys();
    if (answers.size >= answersMax && oldest !== undefined) answers.delete(oldest);
    answers.set(hash, { token, untilMs: clock.monotonicMs() + answerTtlMs });
  }

  async function lookUp(secret: string, signal: AbortSignal): Promise<FoundBillingToken | undefined> {
    pepper ??= await waitFor(store.pepper(), storeTimeoutMs, signal);
    const hash = hashSecret(pepper, secret);
    const answer = answers.get(hash);
    if (answer !== undefined && clock.monotonicMs() < answer.untilMs) return answer.token;
    answers.delete(hash);
    const token = await waitFor(store.findBillingTokenByHash(hash), storeTimeoutMs, signal);
    remember(hash, token);
    return token;
  }

  return {
    authenticate: async (secret, signal) => {
      signal.throwIfAborted();
      if (secret === '' || secret.length > secretCharactersMax) return undefined;
      if (lookUps >= lookUpsMax) return 'unavailable';
      lookUps += 1;
      try {
        const token = await lookUp(secret, signal);
        return token === undefined ? undefined : openedToken(token, clock.nowMs());
      } catch (error) {
        if (signal.aborted) throw error;
        logger.warn({ err: error }, 'billing token lookup failed');
        return 'unavailable';
      } finally {
        lookUps -= 1;
      }
    },
  };
}

/** The token, unless its expiry or the end of its previous secret has passed. */
function openedToken({ byPreviousSecret, ...token }: FoundBillingToken, nowMs: number): BillingToken | undefined {
  if (token.expiresAtMs !== undefined && nowMs >= token.expiresAtMs) return undefined;
  if (byPreviousSecret === true && nowMs >= (token.previousOpensUntilMs ?? 0)) return undefined;
  return token;
}
