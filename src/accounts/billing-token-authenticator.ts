import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { BillingToken, FoundBillingToken } from './api-key.ts';
import { hashSecret } from './hash-secret.ts';
import { secretCharactersMax } from './secret-limits.ts';

/** Who a billing token belongs to. */
export type BillingTokenAuthenticator = {
  /**
   * The token that a secret opens, or undefined when there is none. `unavailable`: the store cannot tell at the moment, so the caller must not
   * be told that the token is wrong. A deletion takes effect within a second, an expiry and the end of a replaced secret at once. Rejects only with the signal's reason.
   */
  readonly authenticate: (secret: string, signal: AbortSignal) => Promise<BillingToken | undefined | 'unavailable'>;
};

export type BillingTokenAuthenticatorOptions = {
  readonly store: Pick<AccountsStore, 'pepper' | 'findBillingTokenByHash'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long one answer of the store is waited for. Default 2 s. */
  readonly storeTimeoutMs?: number;
};

/** How long an answer of the store, yes or no, is used again, and how many are kept. */
const answerTtlMs = 1000;
const answersMax = 1000;
/** Look-ups under way at once; one more is told `unavailable`. */
const lookUpsMax = 64;

type Answer = { readonly token: FoundBillingToken | undefined; readonly untilMs: number };

/** Tokens are few and the monitor is asked seldom: every unknown token is a look-up, of which only so many run at once. */
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

/** The token, while the secret that it was found by opens it. */
function openedToken({ byPreviousSecret, ...token }: FoundBillingToken, nowMs: number): BillingToken | undefined {
  if (token.expiresAtMs !== undefined && nowMs >= token.expiresAtMs) return undefined;
  if (byPreviousSecret === true && nowMs >= (token.previousOpensUntilMs ?? 0)) return undefined;
  return token;
}
