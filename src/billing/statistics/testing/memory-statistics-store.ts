import type { BilledCallStore } from '../billed-call.ts';
import type { AnswerReader, StatisticsQuery, StatisticsRow, StatisticsStore } from '../statistics-store.ts';

/** One billed call, with only the values that the statistics add up. */
export type CountedCall = Omit<StatisticsRow, 'bucketStartSeconds' | 'callCount'> & { readonly acceptedAtMs: number };

/**
 * An in-memory statistics store over a list of calls, as simple and as slow as the interface is worded. For tests only.
 */
export function createMemoryStatisticsStore(calls: readonly CountedCall[]): StatisticsStore {
  return {
    queryStatistics: (query) => {
      const rows = new Map<string, StatisticsRow>();
      for (const call of calls) {
        const bucket = matches(call, query) ? bucketOf(call, query) : undefined;
        if (bucket === undefined) continue;
        const key = JSON.stringify([bucket, call.userName, call.tokenName, call.modelName]);
        rows.set(key, addCall(rows.get(key), call, bucket));
      }
      return Promise.resolve([...rows.values()].toSorted(compareRows).slice(0, query.rowsMax + 1));
    },
  };
}

/** A reader of answers over a store that returns all rows at once. For tests only. */
export function createMemoryReader(store: StatisticsStore, calls?: BilledCallStore): AnswerReader {
  const none = (): Promise<never> => Promise.reject(new Error('There are no calls to list.'));
  return {
    openSource: () => {
      let rows: Promise<readonly StatisticsRow[]> | undefined;
      const read = (query: StatisticsQuery): Promise<readonly StatisticsRow[]> => (rows ??= store.queryStatistics(query));
      return {
        hasTooManyRecords: async (query) => (await read(query)).length > query.rowsMax,
        countCalls: async (query) => (await read(query)).reduce((sum, { callCount }) => sum + callCount, 0),
        readRows: async function* readRows(query) {
          yield await read(query);
        },
        listBilledCalls: calls?.listBilledCalls ?? none,
        listPriceVersions: calls?.listPriceVersions ?? (() => Promise.resolve([])),
        archivedUntilMs: async () => 0,
        close: () => Promise.resolve(),
      };
    },
  };
}

function matches(call: CountedCall, query: StatisticsQuery): boolean {
  if (call.acceptedAtMs < query.startSeconds * 1000 || call.acceptedAtMs >= query.endSeconds * 1000) return false;
  if (query.userName !== undefined && query.userName !== call.userName) return false;
  if (query.tokenName !== undefined && query.tokenName !== call.tokenName) return false;
  return query.modelName === undefined || query.modelName === call.modelName;
}

function bucketOf(call: CountedCall, query: StatisticsQuery): number | undefined {
  const seconds = call.acceptedAtMs / 1000;
  return query.buckets.find((bucket) => bucket.startSeconds <= seconds && seconds < bucket.endSeconds)?.startSeconds;
}

function addCall(row: StatisticsRow | undefined, call: CountedCall, bucketStartSeconds: number): StatisticsRow {
  return {
    bucketStartSeconds,
    userName: call.userName,
    tokenName: call.tokenName,
    modelName: call.modelName,
    promptTokens: (row?.promptTokens ?? 0) + call.promptTokens,
    completionTokens: (row?.completionTokens ?? 0) + call.completionTokens,
    cacheTokens: (row?.cacheTokens ?? 0) + call.cacheTokens,
    cacheCreationTokens: (row?.cacheCreationTokens ?? 0) + call.cacheCreationTokens,
    useTimeMs: (row?.useTimeMs ?? 0) + call.useTimeMs,
    callCount: (row?.callCount ?? 0) + 1,
    amountNanoUsd: (row?.amountNanoUsd ?? 0n) + call.amountNanoUsd,
  };
}

function compareRows(a: StatisticsRow, b: StatisticsRow): number {
  return (
    a.bucketStartSeconds - b.bucketStartSeconds ||
    compareCodePoints(a.userName, b.userName) ||
    compareCodePoints(a.tokenName, b.tokenName) ||
    compareCodePoints(a.modelName, b.modelName)
  );
}

/** UTF-8 sorts by code points; JavaScript's own comparison of strings does not. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
