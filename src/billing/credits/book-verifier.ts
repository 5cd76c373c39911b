import type { Logger } from '../../platform/log.ts';
import { type CreditBooks, type VerifyCursor, verifyStart } from './credit-books.ts';

/** Verifies the books again and again, a bounded part at a time. */
export type BookVerifier = {
  /** Verifies the next part. Never rejects: a store that does not answer is asked again next time. */
  readonly look: () => Promise<void>;
};

/**
 * Makes a verifier. A user in whose books something does not add up gets no further calls until all of the books were gone through and nothing was wrong any more.
 * @param options.freeze see RunningCreditDesk.freeze
 * @param options.rows how many rows one look verifies at most
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
    look: async () => {
      try {
        await verifyNext();
      } catch (error) {
        logger.debug({ err: error }, 'credit book verification failed');
      }
    },
  };
}
