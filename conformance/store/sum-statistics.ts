import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { StatisticsQuery, StatisticsRow } from '../../src/billing/statistics/statistics-store.ts';

/**
 * The expected statistics, added up entry by entry, with other code than the store's. It repeats the meaning
 * of the four counters on purpose: prompt tokens are all input, and cache counts are parts of them.
 */
export function sumStatistics(entries: readonly CallEntry[], query: Omit<StatisticsQuery, 'rowsMax'>): readonly StatisticsRow[] {
  const rows = new Map<string, { -readonly [Member in keyof StatisticsRow]: StatisticsRow[Member] }>();
  for (const entry of entries) {
    const second = entry.acceptedAtMs / 1000;
    const bucket = query.buckets.find((bounds) => bounds.startSeconds <= second && second < bounds.endSeconds);
    if (bucket === undefined || second < query.startSeconds || second >= query.endSeconds) continue;
    if (entry.end === 'failed' || entry.upstreamStatus === undefined) continue;
    if (query.userName !== undefined && query.userName !== entry.userName) continue;
    if (query.tokenName !== undefined && query.tokenName !== entry.keyName) continue;
    if (query.modelName !== undefined && query.modelName !== entry.requestedModel) continue;
    const key = JSON.stringify([bucket.startSeconds, entry.userName, entry.keyName, entry.requestedModel]);
    const row = rows.get(key) ?? {
      bucketStartSeconds: bucket.startSeconds,
      userName: entry.userName,
      tokenName: entry.keyName,
      modelName: entry.requestedModel,
      promptTokens: 0,
      completionTokens: 0,
      cacheTokens: 0,
      cacheCreationTokens: 0,
      useTimeMs: 0,
      callCount: 0,
      amountNanoUsd: 0n,
    };
    rows.set(key, row);
    const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, outputTokens = 0 } = entry.usage;
    row.promptTokens += inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;
    row.completionTokens += outputTokens;
    row.cacheTokens += cacheReadTokens;
    row.cacheCreationTokens += cacheWrite5mTokens + cacheWrite1hTokens;
    row.useTimeMs += Math.round(entry.durationMs);
    row.callCount += 1;
    row.amountNanoUsd += entry.charge.amountNanoUsd;
  }
  return [...rows.values()].toSorted(
    (left, right) =>
      left.bucketStartSeconds - right.bucketStartSeconds ||
      compareCodePoints(left.userName, right.userName) ||
      compareCodePoints(left.tokenName, right.tokenName) ||
      compareCodePoints(left.modelName, right.modelName),
  );
}

/** The order of UTF-8 bytes is the order of code points; JavaScript's own comparison of strings is not. */
function compareCodePoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
