import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { LimitAnswer, LimitOwner, LimitUse } from './limit-use.ts';
import type { ControlSignals, ControlStore } from './node-state.ts';

export type LimitAnswers = {
  /** Answers a question that is new. Never rejects: a question without an answer is read again. */
  readonly follow: (signals: Pick<ControlSignals, 'limitQuestions'>) => Promise<void>;
  /** The last answer; undefined before the first. */
  readonly latest: () => LimitAnswer | undefined;
};

/** The primary answers a worker within a second. */
const answerMsMax = 1500;

/**
 * Answers consoles what this gateway counts against limits. Its reports carry the answer.
 * @param count what counts now, for each owner
 */
export function createLimitAnswers({
  store,
  count,
  logger,
}: {
  readonly store: Pick<ControlStore, 'listLimitQuestions'>;
  readonly count: (owners: readonly LimitOwner[]) => Promise<readonly LimitUse[]>;
  readonly logger: Pick<Logger, 'warn'>;
}): LimitAnswers {
  let latest: LimitAnswer | undefined;
  return {
    follow: async ({ limitQuestions }) => {
      if (limitQuestions === (latest?.answered ?? 0)) return;
      try {
        const owners = await waitFor(store.listLimitQuestions(), answerMsMax);
        latest = { answered: limitQuestions, uses: await waitFor(count(owners), answerMsMax) };
      } catch (error) {
        logger.warn({ err: error }, 'reading the use of limits failed');
      }
    },
    latest: () => latest,
  };
}
