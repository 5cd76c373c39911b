import type { Sample } from './measured-process.ts';

type Name = 'ownMb' | 'heapMb' | 'threadHeapsMb' | 'externalMb';
type RestName = 'descriptors' | 'timers' | 'threads' | 'heapMb';

/**
 * The median of the last quarter may exceed that of the quarter before by so much. Earlier quarters are not judged,
 * because code is loaded and caches fill. Own memory may also grow by what SQLite's page caches can have more, until
 * the database has 16 MB. Memory of threads that end when they have no work is left out, because it follows the calls
 * of a moment. So does resident memory before a collection of garbage.
 */
const growthMax: Readonly<Record<Name, number>> = { ownMb: 16, heapMb: 3, threadHeapsMb: 12, externalMb: 4 };
/**
 * At rest after the load there may be so much more than before it. Under load, descriptors, timers and threads follow
 * the calls under way. At rest no connection is left; connections of the database are opened when they are first
 * needed.
 */
const restMax: Readonly<Record<RestName, number>> = { descriptors: 4, timers: 4, threads: 0, heapMb: 16 };
/** Bytes of the ledger, statistics and facts for a call: an empty database is not counted. */
const bytesPerCallMax = 4096;

/** What a run is judged by. */
export const soakBounds = { growth: growthMax, atRest: restMax, bytesPerCall: bytesPerCallMax } as const;

export type SoakVerdict = {
  readonly bytesPerCall: number;
  readonly grown: Readonly<Record<Name, number>>;
  readonly grownPagesMb: number;
  /** From before the load to the rest after it. */
  readonly left: Readonly<Record<RestName, number>>;
  /** Medians of the last quarter. */
  readonly last: Readonly<Record<Name, number>>;
  /** In words; none if everything stayed flat. */
  readonly problems: string[];
};

/** The samples of a run. */
export type SoakSamples = {
  /** At rest before the load, when everything that it needs has been called once. */
  readonly first: Sample;
  /** At equal intervals under the same load, at least eight. */
  readonly sampled: readonly Sample[];
  /** After the load, when idle connections have been closed. */
  readonly rest: Sample;
};

export function judgeSamples({ first, sampled, rest }: SoakSamples): SoakVerdict {
  const names = Object.keys(growthMax) as readonly Name[];
  const lasting = sampled.map((one) => withoutPassingThreads(one, Object.keys(first.threadHeaps)));
  const quarter = Math.floor(sampled.length / 4);
  const medians = (part: readonly Sample[]): Record<Name, number> =>
    Object.fromEntries(
      names.map((name) => [name, part.map((each) => each[name]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0]),
    ) as Record<Name, number>;
  const last = medians(lasting.slice(-quarter));
  const before = medians(lasting.slice(-2 * quarter, -quarter));
  const grown = Object.fromEntries(names.map((name) => [name, Math.round((last[name] - before[name]) * 100) / 100])) as Record<
    Name,
    number
  >;
  const pagesOf = (part: readonly Sample[]): number => part[Math.floor(part.length / 2)]?.pagesMb ?? 0;
  const grownPagesMb = pagesOf(sampled.slice(-quarter)) - pagesOf(sampled.slice(-2 * quarter, -quarter));
  const left = Object.fromEntries((Object.keys(restMax) as readonly RestName[]).map((name) => [name, rest[name] - first[name]])) as Record<
    RestName,
    number
  >;
  const bytesPerCall = Math.round((rest.databaseBytes - first.databaseBytes) / Math.max(1, rest.calls));
  const problems = names
    .filter((name) => grown[name] > growthMax[name] + (name === 'ownMb' ? grownPagesMb : 0))
    .map((name) => `${name} grew by ${grown[name]}`);
  for (const name of Object.keys(restMax) as readonly RestName[])
    if (left[name] > restMax[name]) problems.push(`${left[name]} more ${name} at rest than before`);
  if (bytesPerCall > bytesPerCallMax) problems.push(`${bytesPerCall} bytes for each call`);
  return { bytesPerCall, grown, grownPagesMb, left, last, problems };
}

/** The sample without the heaps of threads that were not there at rest. */
function withoutPassingThreads(one: Sample, lasting: readonly string[]): Sample {
  const passing = Object.entries(one.threadHeaps).filter(([name]) => !lasting.includes(name));
  const passingMb = passing.reduce((sum, [, megabytes]) => sum + megabytes, 0);
  return { ...one, ownMb: one.ownMb - passingMb, threadHeapsMb: one.threadHeapsMb - passingMb };
}
