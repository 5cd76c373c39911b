import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { type PoolFigures, readPoolFigures } from '../../../platform/isolation/pool-figures.ts';
import type { MetricRegistry, GaugeSample } from '../../../platform/metrics/metric-registry.ts';
import { readWatchdogFigures, type WatchdogFigures } from '../../../platform/watchdog/loop-watchdog.ts';

/** Resolution of the event loop's delay. */
const resolutionMs = 20;
const nanosecondsPerSecond = 1e9;
const quantiles = [50, 90, 99] as const;

const only = (value: number): readonly GaugeSample[] => [{ labels: [], value }];

/** The number of open files, if the system reports it. */
function countOpenFiles(): readonly GaugeSample[] {
  try {
    return only(readdirSync('/proc/self/fd').length);
  } catch {
    // Only Linux has this directory.
    return [];
  }
}

/** Delays of the event loop since the last scrape. */
function readDelays(delays: ReturnType<typeof monitorEventLoopDelay>): readonly GaugeSample[] {
  if (delays.count === 0) return [];
  const readings = quantiles.map((quantile) => ({
    labels: [String(quantile / 100)],
    value: delays.percentile(quantile) / nanosecondsPerSecond,
  }));
  const all = [...readings, { labels: ['1'], value: delays.max / nanosecondsPerSecond }];
  delays.reset();
  // The measured value includes the interval.
  return all.map(({ labels, value }) => ({ labels, value: Math.max(0, value - resolutionMs / 1000) }));
}

/** Threads for untrusted bytes: see platform/isolation. */
function addIsolationMetrics({ collected }: MetricRegistry): void {
  const read = (value: (figures: PoolFigures) => number) => () =>
    readPoolFigures().map((figures) => ({ labels: [figures.pool], value: value(figures) }));
  const labels = ['pool'];
  collected({
    name: 'weir_isolated_threads',
    help: 'Threads that parse untrusted files, pages and schemas, by pool.',
    labels,
    type: 'gauge',
    read: read(({ threads }) => threads),
  });
  collected({
    name: 'weir_isolated_jobs_running',
    help: 'Running jobs of these threads.',
    labels,
    type: 'gauge',
    read: read(({ running }) => running),
  });
  collected({
    name: 'weir_isolated_jobs_waiting',
    help: 'Jobs that wait for a thread.',
    labels,
    type: 'gauge',
    read: read(({ waiting }) => waiting),
  });
  collected({
    name: 'weir_isolated_threads_terminated_total',
    help: 'Threads that were terminated during a job, because of its time or memory, or because its caller aborted.',
    labels,
    type: 'counter',
    read: read(({ terminated }) => terminated),
  });
  collected({
    name: 'weir_isolated_jobs_total',
    help: 'Jobs by outcome: done, aborted, too-long, too-much-memory, too-much-output, threw, crashed, too-busy or closed.',
    labels: ['pool', 'outcome'],
    type: 'counter',
    read: () =>
      readPoolFigures().flatMap(({ pool, outcomes }) => [...outcomes].map(([outcome, value]) => ({ labels: [pool, outcome], value }))),
  });
}

/** Metrics of the watchdog, if one runs. */
function addWatchdogMetrics({ collected }: MetricRegistry): void {
  const read = (value: (figures: WatchdogFigures) => number) => (): readonly GaugeSample[] => {
    const figures = readWatchdogFigures();
    return figures === undefined ? [] : only(value(figures));
  };
  collected({
    name: 'weir_loop_longest_silence_seconds',
    help: 'The longest time since the start for which the event loop was blocked, by the watchdog; the highest value of several processes.',
    type: 'gauge',
    merge: 'max',
    read: read(({ longestSilentMs }) => longestSilentMs / 1000),
  });
  collected({
    name: 'weir_loop_watchdog_restarts',
    help: 'Processes of this data directory that the watchdog terminated because their event loop was blocked, until the start of this one.',
    type: 'gauge',
    merge: 'max',
    read: read(({ restarts }) => restarts),
  });
}

/** Adds metrics about the process, with the names of Prometheus' own libraries. Returns a function that stops them. */
export function addProcessMetrics(registry: MetricRegistry): () => void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const { collected } = registry;
  const startedSeconds = performance.timeOrigin / 1000;
  collected({
    name: 'process_cpu_seconds_total',
    help: 'CPU time used, in user and system mode.',
    type: 'counter',
    read: () => {
      const { user, system } = process.cpuUsage();
      return only((user + system) / 1e6);
    },
  });
  collected({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    type: 'gauge',
    read: () => only(process.memoryUsage.rss()),
  });
  collected({ name: 'process_open_fds', help: 'Open files and sockets.', type: 'gauge', read: countOpenFiles });
  collected({
    name: 'process_start_time_seconds',
    help: 'When the process began, in Unix seconds.',
    type: 'gauge',
    merge: 'max',
    read: () => only(startedSeconds),
  });
  collected({
    name: 'weir_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape; the highest value of several processes.',
    labels: ['quantile'],
    type: 'gauge',
    merge: 'max',
    read: () => readDelays(delays),
  });
  addIsolationMetrics(registry);
  addWatchdogMetrics(registry);
  return () => delays.disable();
}
