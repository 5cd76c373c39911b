import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { problemsKept, type VerificationStore } from './book-verification.ts';
import { type BookProblem, type CreditBooks, type VerifyCursor, verifyStart } from './credit-books.ts';

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
 * @param options.nodeId the process, under which the last whole pass is kept
 */
export function createBookVerifier(options: {
  readonly store: Pick<CreditBooks, 'verifyBooks'> & Pick<VerificationStore, 'keepVerification'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly nodeId: string;
  readonly logger: Pick<Logger, 'error' | 'info' | 'debug'>;
  readonly freeze: (accountIds: ReadonlySet<string>) => void;
  readonly rows: number;
}): BookVerifier {
  const { store, clock, nodeId, logger, freeze, rows } = options;
  let cursor: VerifyCursor = verifyStart;
  let frozen = new Set<string>();
  let found = new Set<string>();
  let lastProblems = new Map<string, string>();
  let problems = new Map<string, string>();
  let hasWholePass = false;
  let pass = beginPass();

  function beginPass(): { readonly startedAtMs: number; checked: number; problemCount: number; readonly listed: BookProblem[] } {
    return { startedAtMs: clock.nowMs(), checked: 0, problemCount: 0, listed: [] };
  }

  async function keep({ listed, ...ended }: typeof pass): Promise<void> {
    const author = `node:${nodeId}`;
    await store.keepVerification({ id: author, author, ...ended, endedAtMs: clock.nowMs(), problems: listed.slice(0, problemsKept) });
  }

  async function verifyNext(): Promise<void> {
    if (cursor === verifyStart) pass = beginPass();
    const { checked, problems: foundNow, next } = await store.verifyBooks({ cursor, limit: rows });
    pass.checked += checked;
    pass.problemCount += foundNow.length;
    if (pass.listed.length < problemsKept) pass.listed.push(...foundNow);
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
    if (next === undefined) await keep(pass);
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
