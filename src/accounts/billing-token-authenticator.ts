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
   * caller must not learn that the token is wrong. A deletion takes effect within a second, and within a minute while
   * the store is late; an expiry and the end of a replaced secret at once. Rejects only with the reason of the signal.
   */
  readonly authenticate: (secret: string, signal: AbortSignal) => Promise<BillingToken | undefined | 'unavailable'>;
};

export type BillingTokenAuthenticatorOptions = {
  readonly store: Pick<AccountsStore, 'pepper' | 'findBillingTokenByHash'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long to wait for an answer of the store, which takes seconds if no processor is free. Default 9 s. */
  readonly storeTimeoutMs?: number;
  /** How long to wait for it if the token was valid a moment ago. Default 2 s. */
  readonly knownTimeoutMs?: number;
};

/** How long an answer of the store, positive or negative, is reused, and how many are cached. */
const answerTtlMs = 1000;
const answersMax = 1000;
/** How long a valid token is accepted by an old answer while the store does not give a new one. */
const lateMsMax = 60_000;
/** The most look-ups at once, each of another token; a further one gets `unavailable`. */
const lookUpsMax = 64;
/** The most requests that wait for look-ups. */
const waitersMax = 1000;

type Answer = { readonly token: FoundBillingToken | undefined; readonly askedAtMs: number };

/**
 * Tokens are few and requests to the monitor are rare: every token that is not cached is a look-up, which all requests
 * with that token share. A valid token is not refused because the store is late.
 */
export function createBillingTokenAuthenticator(options: BillingTokenAuthenticatorOptions): BillingTokenAuthenticator {
  const { store, clock, logger, storeTimeoutMs = 9000, knownTimeoutMs = 2000 } = options;
  const answers = new Map<string, Answer>();
  const lookUps = new Map<string, Promise<Answer>>();
  let pepper: string | undefined;
  let waiters = 0;

  const ageMs = ({ askedAtMs }: Answer): number => clock.monotonicMs() - askedAtMs;

  function remember(hash: string, answer: Answer): void {
    answers.delete(hash);
    const [oldest] = answers.keys();
    if (answers.size >= answersMax && oldest !== undefined) answers.delete(oldest);
    answers.set(hash, answer);
  }

  async function askStore(hash: string): Promise<Answer> {
    try {
      const askedAtMs = clock.monotonicMs();
      const answer = { token: await waitFor(store.findBillingTokenByHash(hash), storeTimeoutMs), askedAtMs };
      remember(hash, answer);
      return answer;
    } finally {
      lookUps.delete(hash);
    }
  }

  function lookUp(hash: string): Promise<Answer> {
    const running = lookUps.get(hash);
    if (running !== undefined) return running;
    if (lookUps.size >= lookUpsMax) throw new Error(`More than ${lookUpsMax} tokens are looked up.`);
    const answer = askStore(hash);
    lookUps.set(hash, answer);
    return answer;
  }

  async function find(secret: string, signal: AbortSignal): Promise<FoundBillingToken | undefined> {
    pepper ??= await waitFor(store.pepper(), storeTimeoutMs, signal);
    const hash = hashSecret(pepper, secret);
    const known = answers.get(hash);
    if (known !== undefined && ageMs(known) < answerTtlMs) return known.token;
    try {
      const { token } = await waitFor(lookUp(hash), known?.token === undefined ? storeTimeoutMs : knownTimeoutMs, signal);
      return token;
    } catch (error) {
      if (signal.aborted || known?.token === undefined || ageMs(known) >= lateMsMax) throw error;
      logger.warn({ err: error }, 'billing token accepted by an old answer');
      return known.token;
    }
  }

  return {
    authenticate: async (secret, signal) => {
      signal.throwIfAborted();
      if (secret === '' || secret.length > secretCharactersMax) return undefined;
      if (waiters >= waitersMax) return 'unavailable';
      waiters += 1;
      try {
        const token = await find(secret, signal);
        return token === undefined ? undefined : openedToken(token, clock.nowMs());
      } catch (error) {
        if (signal.aborted) throw error;
        logger.warn({ err: error }, 'billing token lookup failed');
        return 'unavailable';
      } finally {
        waiters -= 1;
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
