import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { apiKey, type Contestant, loadCore, proxyCore } from './contestants.ts';
import { compile } from './native/compile.ts';
import { streamSeconds, type Work } from './works.ts';

/** One round of one contestant. */
export type Measured = {
  /** Processor time of all processes and threads of the contestant for a call, or for an event of a stream. */
  readonly cpuMicros: number;
  /** Calls or events per second. */
  readonly perSecond: number;
  /** Latency of replies; for streams, the delay of events between the upstream and the client. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
};

/** Figures of failures mean nothing. A gateway refuses calls if the work is more than its core can do. */
class FailedRequests extends Error {}

/** The line that bench/native/load.c prints. */
type Round = Readonly<
  Record<'requests' | 'failures' | 'events' | 'delays' | 'seconds' | `${'reply' | 'event'}${'P50Ms' | 'P99Ms' | 'P999Ms'}`, number>
>;

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-load-'));
const load = compile('load');

/** Writes the request of a work as the bytes that each connection sends. */
function writeRequest(work: Work, headers: readonly string[]): string {
  const file = join(folder, 'request');
  const head = [
    `POST ${work.path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${apiKey}`,
    'content-type: application/json',
    'anthropic-version: 2023-06-01',
    'user-agent: bench',
    'accept: */*',
    ...headers,
    `content-length: ${Buffer.byteLength(work.body)}`,
  ];
  writeFileSync(file, `${head.join('\r\n')}\r\n\r\n${work.body}`);
  return file;
}

/**
 * Puts load on a contestant for some seconds, and before them for the length of a stream, in which the streams begin.
 * @throws FailedRequests if a request failed
 */
export function measure(contestant: Contestant, work: Work, seconds: number): Measured {
  const command = [load, String(contestant.port), String(work.connections), String(seconds), writeRequest(work, contestant.headers ?? [])];
  if (work.streams) command.push(String(streamSeconds));
  const before = contestant.cpuSeconds();
  const done = spawnSync('taskset', ['-c', contestant.loadCores ?? loadCore, ...command], { encoding: 'utf8', timeout: 120_000 });
  const used = contestant.cpuSeconds() - before;
  if (done.status !== 0) throw new Error(`${contestant.name}, ${work.title}: ${done.stderr}`);
  const round = JSON.parse(done.stdout) as Round;
  const units = work.streams ? round.events : round.requests;
  if (round.failures > 0 || units === 0)
    throw new FailedRequests(`${contestant.name}, ${work.title}: ${round.failures} of ${round.requests} requests failed`);
  const kind = work.streams ? 'event' : 'reply';
  return {
    cpuMicros: (used / units) * 1e6,
    perSecond: work.streams ? round.delays / seconds : units / round.seconds,
    p50Ms: round[`${kind}P50Ms`],
    p99Ms: round[`${kind}P99Ms`],
    p999Ms: round[`${kind}P999Ms`],
  };
}

const memory = compile('memory');

/**
 * Nanoseconds for a step through memory that is larger than a core's own cache. What a call costs depends on it: the
 * other machines of a processor use the same large cache.
 */
export function measureMemory(): number {
  const { status, stdout, stderr } = spawnSync('taskset', ['-c', proxyCore, memory], { encoding: 'utf8', timeout: 30_000 });
  if (status !== 0) throw new Error(`memory: ${stderr}`);
  return Number(stdout);
}

/** As `measure`; undefined, with a message, if requests failed. */
export function measureOrFail(contestant: Contestant, work: Work, seconds: number): Measured | undefined {
  try {
    return measure(contestant, work, seconds);
  } catch (error) {
    if (!(error instanceof FailedRequests)) throw error;
    console.error(error.message);
    return undefined;
  }
}

/**
 * Calls of each process before it is measured. Each compiles its code for itself: the first 10,000 calls cost twice as
 * much as later ones, and calls up to the 60,000th a quarter more. With equal time a slower one would be compared while
 * it is still compiling.
 */
const warmCalls = 60_000;
const warmRoundsMax = 60;

/** Puts load on a contestant until each of its processes has compiled its code, or until it has had so many rounds. */
export function warmUp(
  contestant: Contestant,
  work: Work,
  { processes = 1, seconds, roundsMax = warmRoundsMax }: { processes?: number; seconds: number; roundsMax?: number },
): void {
  let done = 0;
  for (let round = 0; round < roundsMax && done < warmCalls * processes; round += 1)
    done += measure(contestant, work, seconds).perSecond * seconds;
}

/** Other work on the machine only adds to a measurement, so the lower quartile is what the work costs. */
export const lowerQuartile = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN;

/** The median of the ratios of processor time, round by round, so that both saw the same machine. */
export function ratioOf(results: readonly Measured[], bare: readonly Measured[]): number {
  const ratios = results.map(({ cpuMicros }, round) => cpuMicros / (bare[round]?.cpuMicros ?? Number.NaN));
  return ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? Number.NaN;
}
