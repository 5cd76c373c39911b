import type { Logger } from '../../platform/log.ts';
import { type CreditBooks, type VerifyCursor, verifyStart } from './credit-books.ts';

/** Verifies the books in an endless cycle, a bounded slice at a time. */
export type BookVerifier = {
  /** Verifies the next slice. Never rejects: if the store fails, the slice is repeated next time. */
  readonly verifyNext: () => Promise<void>;
};

/**
 * Creates a verifier. A user with a problem in the books gets no further calls until a full pass over the books finds
 * none.
 * @param options.freeze see RunningCreditDesk.freeze
 * @param options.rows the most rows that one step verifies
 */
export function createBookVerifier(options: {
  readonly store: Pick<CreditBooks, 'verifyBooks'>;
  readonly logger: Pick<Logger, 'error' | 'info' | 'debug'>;
  readonly freeze: (userNames: ReadonlySet<string>) => void;
  readonly rows: number;
}): BookVerifier {
  const { store, logger, freeze, rows } = options;
  let cursor: VerifyCursor = verifyStart;
  let frozen = new Set<string>();
  let found = new Set<string>();

  async function verifyNext(): Promise<void> {
    const { problems, next } = await store.verifyBooks({ cursor, limit: rows });
    for (const { userName, what } of problems) {
      logger.error({ user: userName, problem: what }, 'credit books found inconsistent');
      if (userName !== undefined) found.add(userName);
    }
    cursor = next ?? verifyStart;
    if (next === undefined) {
      if (frozen.size > 0 && found.size === 0) logger.info({}, 'credit books found consistent again');
      frozen = found;
      found = new Set();
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
  };
}
