import type { Logger } from '../../platform/log.ts';
import { type CreditBooks, type VerifyCursor, verifyStart } from './credit-books.ts';

/** Verifies the books in an endless cycle, a bounded slice at a time. */
export type BookVerifier = {
  /** Verifies the next slice. Never rejects: if the store fails, the slice is repeated next time. */
  readonly verifyNext: () => Promise<void>;
  /** The result of the last whole pass and of the present one. */
  readonly verdict: () => BookVerdict;
};

/** `problems` by account; the id is empty for problems outside of the accounts of users, teams and the organization. */
type BookVerdict = { readonly problems: ReadonlyMap<string, string>; readonly hasWholePass: boolean };

/**
 * Creates a verifier. An account with a problem in the books gets no further calls until a full pass over the books
 * finds none.
 * @param options.freeze see RunningCreditDesk.freeze
 * @param options.rows the most rows that one step verifies
 */
export function createBookVerifier(options: {
  readonly store: Pick<CreditBooks, 'verifyBooks'>;
  readonly logger: Pick<Logger, 'error' | 'info' | 'debug'>;
  readonly freeze: (accountIds: ReadonlySet<string>) => void;
  readonly rows: number;
}): BookVerifier {
  const { store, logger, freeze, rows } = options;
  let cursor: VerifyCursor = verifyStart;
  let frozen = new Set<string>();
  let found = new Set<string>();
  let lastProblems = new Map<string, string>();
  let problems = new Map<string, string>();
  let hasWholePass = false;

  async function verifyNext(): Promise<void> {
    const { problems: foundNow, next } = await store.verifyBooks({ cursor, limit: rows });
    for (const { accountId, what } of foundNow) {
      problems.set(accountId ?? '', what);
      logger.error({ account: accountId, problem: what }, 'credit books found inconsistent');
      if (accountId !== undefined) found.add(accountId);
    }
    cursor = next ?? verifyStart;
    if (next === undefined) {
      if (frozen.size > 0 && found.size === 0) logger.info({}, 'credit books found consistent again');
      frozen = found;
      found = new Set();
      lastProblems = problems;
      problems = new Map();
      hasWholePass = true;
    }
    freeze(new Set([...frozen, ...found]));
  }

  return {
    verifyNext: async () => {
      try {
        await verifyNext();
      } catch (error) {
        logger.debug({ err: error }, 'credit book verification failed');
      }
    },
    verdict: () => ({ problems: new Map([...lastProblems, ...problems]), hasWholePass }),
  };
}
