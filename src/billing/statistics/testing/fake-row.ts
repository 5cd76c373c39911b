import type { StatisticsRow } from '../statistics-store.ts';

/** The sums of a user's calls in one bucket, for tests. */
export function fakeRow(changes: Partial<StatisticsRow> = {}): StatisticsRow {
  return {
    bucketStartSeconds: 1_769_443_200,
    userName: 'alice',
    tokenName: 'ci',
    modelName: 'm-flash',
    promptTokens: 1200,
    completionTokens: 340,
    cacheTokens: 800,
    cacheCreationTokens: 0,
    useTimeMs: 17_999,
    callCount: 5,
    amountNanoUsd: 1_230_000n,
    ...changes,
  };
}
