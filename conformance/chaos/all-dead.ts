import { setTimeout as wait } from 'node:timers/promises';

import { proxyWords } from '../support/chaos-proxy.ts';
import { residentBytes } from '../support/process-memory.ts';
import { type ChaosOptions, type Lane, type OpenLane, startChaosBench } from './chaos-bench.ts';
import { percentile, type SeenCall } from './open-loop.ts';

export type AllDeadOptions = Pick<ChaosOptions, 'lanes' | 'timeouts' | 'config'> & {
  readonly perLanePerSecond: number;
  readonly deadSeconds: number;
  /** The time after which the gateway should know that all upstreams are down. */
  readonly knownAfterSeconds: number;
  readonly backSeconds: number;
};

/** R4: every upstream is dead. Times in milliseconds. */
export type AllDeadFigures = {
  readonly lane: Lane;
  readonly calls: number;
  /** Requests that the upstreams received per call; undefined if no upstream runs that could count. */
  readonly wireAttemptsPerCall: number | undefined;
  /** From the call to the end of its answer: for calls after the outage was known, and for earlier ones. */
  readonly answerP50Ms: number;
  readonly answerP90Ms: number;
  readonly answerP99Ms: number;
  readonly answerP99AtFirstMs: number;
  /** Answers by status, of all calls while everything was dead. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers with 503 of the gateway itself without a retry-after. An upstream's own answer passes unchanged. */
  readonly withoutRetryAfter: number;
  /** From the recovery until the first call succeeded, and until every call did; undefined if that never happened. */
  readonly firstSuccessAfterMs: number | undefined;
  readonly allSucceedAfterMs: number | undefined;
};

export type AllDead = {
  readonly lanes: readonly AllDeadFigures[];
  /** Memory that waiting calls took before the outage was known, and its growth from then to the recovery. */
  readonly memoryAtFirstBytes: number;
  readonly memoryGrowthBytes: number;
};

/**
 * Kills every upstream of every lane under a constant load, records what the upstreams and the clients saw, and revives
 * them.
 */
export async function measureAllDead(options: AllDeadOptions): Promise<AllDead> {
  const { perLanePerSecond, deadSeconds, knownAfterSeconds, backSeconds } = options;
  await using bench = await startChaosBench({ ...options, pace: 'tokensPerFrame=4' });
  const { pid } = bench.weir.process;
  const memoryBefore = residentBytes(pid) ?? 0;
  await Promise.all(bench.lanes.flatMap(({ first, second }) => [first.die(), second.die()]));
  const before = await countRequests(bench.lanes);
  const diedAtMs = now();
  const load = bench.load({ perLanePerSecond, seconds: deadSeconds + backSeconds, limitMs: 30_000 });
  await wait(knownAfterSeconds * 1000);
  const memoryKnown = residentBytes(pid) ?? 0;
  await wait((deadSeconds - knownAfterSeconds) * 1000);
  const after = await countRequests(bench.lanes);
  const memoryAfter = residentBytes(pid) ?? 0;
  await Promise.all(bench.lanes.flatMap(({ first, second }) => [first.revive(), second.revive()]));
  const revivedAtMs = now();
  const seen = await load.done;
  const knownAtMs = diedAtMs + knownAfterSeconds * 1000;
  return {
    lanes: options.lanes.map((lane, index) => {
      const own = seen.filter(({ model }) => model === lane.name);
      const attempts = (after[index] ?? 0) - (before[index] ?? 0);
      return { ...judge(own, attempts, { knownAtMs, revivedAtMs, lane }), ...recovery(own, revivedAtMs) };
    }),
    memoryAtFirstBytes: memoryKnown - memoryBefore,
    memoryGrowthBytes: memoryAfter - memoryKnown,
  };
}

const now = (): number => performance.timeOrigin + performance.now();

/** A stopped process cannot count, and nothing counts at a closed port. */
const isCounted = ({ death }: Lane): boolean => death !== 'black-hole' && death !== 'refuse';

function countRequests(lanes: readonly OpenLane[]): Promise<readonly number[]> {
  return Promise.all(
    lanes.map(async (lane) => {
      if (!isCounted(lane)) return 0;
      const [first, second] = await Promise.all([lane.first.counts(), lane.second.counts()]);
      return first.requests + second.requests;
    }),
  );
}

function judge(
  seen: readonly SeenCall[],
  attempts: number,
  { knownAtMs, revivedAtMs, lane }: { readonly knownAtMs: number; readonly revivedAtMs: number; readonly lane: Lane },
): Omit<AllDeadFigures, 'firstSuccessAfterMs' | 'allSucceedAfterMs'> {
  const made = seen.filter(({ startedAtMs }) => startedAtMs < revivedAtMs);
  // A call that waits when the upstreams recover may still succeed.
  const ended = made.filter(({ startedAtMs, tookMs }) => startedAtMs + tookMs < revivedAtMs);
  const took = (calls: readonly SeenCall[], share: number): number =>
    percentile(
      calls.map(({ tookMs }) => tookMs),
      share,
    );
  const known = ended.filter(({ startedAtMs }) => startedAtMs >= knownAtMs);
  return {
    lane,
    calls: made.length,
    wireAttemptsPerCall: isCounted(lane) ? attempts / made.length : undefined,
    answerP50Ms: took(known, 0.5),
    answerP90Ms: took(known, 0.9),
    answerP99Ms: took(known, 0.99),
    answerP99AtFirstMs: took(
      ended.filter(({ startedAtMs }) => startedAtMs < knownAtMs),
      0.99,
    ),
    statuses: countStatuses(ended),
    withoutRetryAfter: ended.filter(
      ({ status, retryAfter, words = '' }) => status === 503 && retryAfter === undefined && !words.includes(proxyWords),
    ).length,
  };
}

function countStatuses(calls: readonly SeenCall[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of calls) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function recovery(seen: readonly SeenCall[], revivedAtMs: number): Pick<AllDeadFigures, 'firstSuccessAfterMs' | 'allSucceedAfterMs'> {
  const later = seen.filter(({ startedAtMs }) => startedAtMs > revivedAtMs);
  const succeeded = later.filter(({ complete }) => complete).map((call) => call.startedAtMs + call.tookMs - revivedAtMs);
  const failed = later.filter(({ complete }) => !complete).map(({ startedAtMs }) => startedAtMs - revivedAtMs);
  const lastFailure = Math.max(0, ...failed);
  return {
    firstSuccessAfterMs: succeeded.length === 0 ? undefined : Math.min(...succeeded),
    allSucceedAfterMs: later.some(({ startedAtMs }) => startedAtMs - revivedAtMs > lastFailure) ? lastFailure : undefined,
  };
}
