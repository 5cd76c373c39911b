import type { Clock } from '../platform/clock.ts';
import { isolatedJob } from '../platform/isolation/isolated-job.ts';
import { createJobPool } from '../platform/isolation/job-pool.ts';
import type { Logger } from '../platform/log.ts';
import type { OwnPattern } from './masking/own-patterns.ts';
import type { RecordedCall } from './records/recorded-call.ts';
import type * as RecordJob from './records/record-job.ts';
import type { ContentSpool } from './spool/content-spool.ts';

/** Counts of calls whose content was to be recorded, by result. */
type KeptCounts = {
  /** Recorded. */
  spooled: number;
  /** Not recorded, because the spool is full. */
  spoolFull: number;
  /** Not recorded, because too many records waited for their thread. */
  busy: number;
  /** Not recorded, because its record could not be made or written. */
  failed: number;
};

export type ContentKeeper = {
  /** Takes a call without waiting. It is masked and spooled later, or counted as not recorded. */
  readonly keep: (call: RecordedCall, patterns: readonly OwnPattern[]) => void;
  readonly counts: Readonly<KeptCounts>;
  /** Resolves when all that was taken is spooled or counted. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const recordJob = isolatedJob<typeof RecordJob>('record content', new URL('./records/record-job.ts', import.meta.url));

/** The record of the largest bodies, masked: texts may grow by their marks. */
const outputBytesMax = 256 * 1024 * 1024;
const waitingMax = 2000;
const closeMsMax = 5000;
/** The time between two log lines about calls that were not recorded. */
const warnEveryMs = 60_000;

/**
 * Masks calls in a thread, whose time and memory are limited, and puts them into the spool. Whatever fails, the call is
 * only not recorded: it is counted, and logged at most once a minute.
 */
export function createContentKeeper(parts: {
  readonly spool: Pick<ContentSpool, 'append'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): ContentKeeper {
  const { spool, logger, clock } = parts;
  const end = new AbortController();
  const pool = createJobPool({
    name: 'content',
    threadsMax: 1,
    memoryMegabytes: 512,
    timeoutMs: 30_000,
    outputBytesMax,
    waitingMax,
    waitingPerTenantMax: waitingMax,
  });
  const counts: KeptCounts = { spooled: 0, spoolFull: 0, busy: 0, failed: 0 };
  const running = new Set<Promise<void>>();
  let warnedMs = -Infinity;
  const miss = (reason: keyof KeptCounts, error?: unknown): void => {
    counts[reason] += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - warnedMs < warnEveryMs) return;
    warnedMs = nowMs;
    // The error of a job may have text of the call in it, so only its kind is logged.
    const kind = error instanceof Error ? error.name : undefined;
    const { spoolFull, busy, failed } = counts;
    logger.warn({ reason, kind, records: spoolFull + busy + failed }, 'content of calls not recorded');
  };
  const record = async (call: RecordedCall, patterns: readonly OwnPattern[]): Promise<void> => {
    try {
      const transferred = [call.request, call.reply].flatMap((body) => (body === undefined ? [] : [body.bytes.buffer]));
      const line = await pool.run(recordJob, { call, patterns }, { tenant: call.facts.userId, signal: end.signal, transferred });
      if ((await spool.append(line)) === 'full') miss('spoolFull');
      else counts.spooled += 1;
    } catch (error) {
      miss('failed', error);
    }
  };
  const settled = async (): Promise<void> => {
    await Promise.all(running);
  };
  return {
    keep: (call, patterns) => {
      if (running.size >= waitingMax) return miss('busy');
      const recording: Promise<void> = record(call, patterns).finally(() => running.delete(recording));
      running.add(recording);
    },
    counts,
    settled,
    close: async () => {
      const timer = setTimeout(() => end.abort(new Error('the gateway ends')), closeMsMax);
      await settled();
      clearTimeout(timer);
      await pool.close();
    },
  };
}
