import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { apiKey, type Contestant, loadCore } from './contestants.ts';

/** What a contestant is asked for, by so many connections at once. */
export type Work = {
  readonly title: string;
  readonly connections: number;
  readonly bodyBytes: number;
  readonly stream?: { readonly events: number; readonly perSecond: number };
};

/** One round: CPU of all threads for a call (for an event, where it streams), latency as the clients saw it, calls or events a second. */
export type Measured = { readonly cpuMicros: number; readonly p50Ms: number; readonly p99Ms: number; readonly perSecond: number };

/** As bench/load.ts prints it. */
type Round = {
  readonly requests: number;
  readonly failures: number;
  readonly events: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** Puts load on a contestant for some seconds. Throws where a request fails: figures of failures mean nothing. */
export function measure(contestant: Contestant, work: Work, seconds: number): Measured {
  const { title, ...asked } = work;
  const task = { ...asked, port: contestant.port, seconds, apiKey };
  const before = contestant.cpuSeconds();
  const load = spawnSync('taskset', ['-c', loadCore, process.execPath, join(import.meta.dirname, 'load.ts'), JSON.stringify(task)], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const used = contestant.cpuSeconds() - before;
  const round = JSON.parse(load.stdout) as Round;
  if (round.failures > 0 || round.requests === 0)
    throw new Error(`${contestant.name}, ${title}: ${round.failures} of ${round.requests} requests failed`);
  const units = work.stream === undefined ? round.requests : round.events;
  return { cpuMicros: (used / units) * 1e6, p50Ms: round.p50Ms, p99Ms: round.p99Ms, perSecond: units / round.seconds };
}

/** Wall-clock noise only ever adds: what a quarter of the rounds stayed below is what the work costs. */
export const lowerQuartile = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN;
