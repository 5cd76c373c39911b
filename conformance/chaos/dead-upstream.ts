import { setTimeout as wait } from 'node:timers/promises';

import { type ChaosOptions, type Lane, type OpenLane, startChaosBench } from './chaos-bench.ts';
import { percentile, type SeenCall } from './open-loop.ts';

export type DeadUpstreamOptions = Pick<ChaosOptions, 'lanes' | 'timeouts' | 'config'> & {
  readonly perLanePerSecond: number;
  /** Before, during and after the outage. */
  readonly wellSeconds: number;
  readonly deadSeconds: number;
  readonly backSeconds: number;
};

/** R3: one of two upstreams is dead for a while. Times in milliseconds. */
export type DeadUpstreamFigures = {
  readonly lane: Lane;
  readonly calls: number;
  /** Calls whose answer had begun when the upstream died, and broke. They cannot be saved. */
  readonly brokenStreams: number;
  /** Calls that no client should have seen fail. */
  readonly failures: number;
  readonly examples: readonly string[];
  readonly firstByteP99WellMs: number;
  readonly firstByteP99DeadMs: number;
  /**
   * From the recovery until the upstream answers again, and until it has half of the calls that it had before;
   * undefined if that never happened.
   */
  readonly firstReplyAfterMs: number | undefined;
  readonly backAfterMs: number | undefined;
  /** Streams that broke without an error event. */
  readonly dishonest: number;
};

const tokensPerSecond = 100;
const sampleMs = 250;
const samplesPerSecond = 1000 / sampleMs;

/** Kills the first of two upstreams of each lane under a constant load, and records the clients' view. */
export async function measureDeadUpstream(options: DeadUpstreamOptions): Promise<readonly DeadUpstreamFigures[]> {
  const { perLanePerSecond, wellSeconds, deadSeconds, backSeconds } = options;
  await using bench = await startChaosBench({ ...options, pace: `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4;firstTokenMs=30` });
  const load = bench.load({
    perLanePerSecond,
    seconds: wellSeconds + deadSeconds + backSeconds,
    // Replies take a second, so that some are always in progress.
    headers: { 'x-simulator-output-tokens': String(tokensPerSecond) },
    limitMs: 60_000,
  });
  const before = await countReplies(bench.lanes);
  await wait(wellSeconds * 1000);
  const well = await countReplies(bench.lanes);
  const diedAtMs = now();
  await Promise.all(bench.lanes.map(({ first }) => first.die()));
  await wait(deadSeconds * 1000);
  await Promise.all(bench.lanes.map(({ first }) => first.revive()));
  const revivedAtMs = now();
  const returns = bench.lanes.map((lane, index) => {
    const usualPerSecond = ((well[index] ?? 0) - (before[index] ?? 0)) / wellSeconds;
    return watchReturn(lane, usualPerSecond, backSeconds * 1000);
  });
  const back = await Promise.all(returns);
  const seen = await load.done;
  return options.lanes.map((lane, index) => ({
    lane,
    ...judge(
      seen.filter(({ model }) => model === lane.name),
      diedAtMs,
      revivedAtMs,
    ),
    ...(back[index] ?? { firstReplyAfterMs: undefined, backAfterMs: undefined }),
  }));
}

const now = (): number => performance.timeOrigin + performance.now();

function countReplies(lanes: readonly OpenLane[]): Promise<readonly number[]> {
  return Promise.all(lanes.map(async ({ first }) => (await first.counts()).replies));
}

async function watchReturn(
  { first }: OpenLane,
  usualPerSecond: number,
  limitMs: number,
): Promise<Pick<DeadUpstreamFigures, 'firstReplyAfterMs' | 'backAfterMs'>> {
  const startedMs = performance.now();
  const { replies: atFirst } = await first.counts();
  const samples = [atFirst];
  let firstReplyAfterMs: number | undefined;
  while (performance.now() - startedMs < limitMs) {
    await wait(sampleMs);
    const { replies } = await first.counts();
    samples.push(replies);
    const elapsedMs = performance.now() - startedMs;
    if (replies > atFirst) firstReplyAfterMs ??= elapsedMs;
    const inLastSecond = replies - (samples.at(-1 - samplesPerSecond) ?? atFirst);
    if (firstReplyAfterMs !== undefined && inLastSecond >= usualPerSecond / 2) return { firstReplyAfterMs, backAfterMs: elapsedMs };
  }
  return { firstReplyAfterMs, backAfterMs: undefined };
}

function judge(
  seen: readonly SeenCall[],
  diedAtMs: number,
  revivedAtMs: number,
): Omit<DeadUpstreamFigures, 'lane' | 'firstReplyAfterMs' | 'backAfterMs'> {
  const failed = seen.filter(({ complete }) => !complete);
  const hadBegun = ({ startedAtMs, firstByteMs = Infinity }: SeenCall): boolean => startedAtMs + firstByteMs <= diedAtMs;
  const failures = failed.filter((call) => !hadBegun(call));
  const firstByteP99 = (calls: readonly SeenCall[]): number =>
    percentile(
      calls.filter(({ complete }) => complete).map(({ firstByteMs = 0 }) => firstByteMs),
      0.99,
    );
  return {
    calls: seen.length,
    brokenStreams: failed.length - failures.length,
    failures: failures.length,
    examples: failures
      .slice(0, 5)
      .map(
        ({ status, words = '', startedAtMs, tookMs }) =>
          `${Math.round(startedAtMs - diedAtMs)} ms after the death, for ${Math.round(tookMs)} ms: ${status} ${words}`,
      ),
    // A call that waited when the upstream died belongs to neither phase, because a longer wait is expected.
    firstByteP99WellMs: firstByteP99(seen.filter(hadBegun)),
    firstByteP99DeadMs: firstByteP99(seen.filter(({ startedAtMs }) => startedAtMs >= diedAtMs && startedAtMs < revivedAtMs)),
    dishonest: failed.filter(({ status, stream, toldError }) => status === 200 && stream && !toldError).length,
  };
}
