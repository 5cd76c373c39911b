import type { CallFactsStore } from '../../billing/calls/call-facts-store.ts';
import type { StatisticsStore } from '../../billing/statistics/statistics-store.ts';
import type { UsageStore } from '../../billing/usage/usage-store.ts';
import { createStoreOnDemand } from '../../store/worker/store-on-demand.ts';
import type { Environment } from '../environment.ts';
import { openDatabase } from './open-data-directory.ts';

/** The questions of the console that may take long. */
export type QuestionStore = UsageStore & StatisticsStore & Pick<CallFactsStore, 'scanCalls' | 'countCallsByTime'>;

/**
 * A read-only connection of the console's own, in a thread of its own: a long question must not hold the thread in
 * which a gateway of the same process books its calls. It opens with the first question, so that a start costs nothing
 * for it. Closed by `opened`.
 */
export function openQuestionStore(environment: Environment, opened: AsyncDisposableStack): QuestionStore {
  const own = createStoreOnDemand(() => openDatabase(environment, { readOnly: true, mayBeAway: true }));
  opened.defer(async () => {
    await own.close();
  });
  return {
    readUsage: async (read) => (await own.connect()).readUsage(read),
    queryStatistics: async (query) => (await own.connect()).queryStatistics(query),
    scanCalls: async (scan) => (await own.connect()).scanCalls(scan),
    countCallsByTime: async (count) => (await own.connect()).countCallsByTime(count),
  };
}
