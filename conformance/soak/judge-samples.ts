import type { Sample } from './measured-process.ts';

type Name = 'residentMb' | 'settledMb' | 'heapMb' | 'threadHeapsMb' | 'externalMb' | 'descriptors' | 'threads' | 'timers';

/**
 * The median of the last quarter may exceed that of the quarter before by so much. Earlier quarters are not judged,
 * because code is loaded and caches fill.
 */
const growthMax: Readonly<Record<Name, number>> = {
  residentMb: 24,
  settledMb: 16,
  heapMb: 3,
  threadHeapsMb: 12,
  externalMb: 4,
  descriptors: 16,
  threads: 1,
  timers: 16,
};
/** Bytes of the ledger, statistics and facts for a call: an empty database is not counted. */
const bytesPerCallMax = 4096;

export type SoakVerdict = {
  readonly bytesPerCall: number;
  readonly grown: Readonly<Record<Name, number>>;
  /** Medians of the last quarter. */
  readonly last: Readonly<Record<Name, number>>;
  /** In words; none if everything stayed flat. */
  readonly problems: string[];
};

/** @param sampled at equal intervals under the same load, at least eight */
export function judgeSamples(first: Pick<Sample, 'databaseBytes'>, sampled: readonly Sample[]): SoakVerdict {
  const names = Object.keys(growthMax) as readonly Name[];
  const quarter = Math.floor(sampled.length / 4);
  const medians = (part: readonly Sample[]): Record<Name, number> =>
    Object.fromEntries(
      names.map((name) => [name, part.map((each) => each[name]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0]),
    ) as Record<Name, number>;
  const last = medians(sampled.slice(-quarter));
  const before = medians(sampled.slice(-2 * quarter, -quarter));
  const grown = Object.fromEntries(names.map((name) => [name, Math.round((last[name] - before[name]) * 100) / 100])) as Record<
    Name,
    number
  >;
  const end = sampled.at(-1);
  const bytesPerCall = Math.round(((end?.databaseBytes ?? 0) - first.databaseBytes) / Math.max(1, end?.calls ?? 0));
  const problems = names.filter((name) => grown[name] > growthMax[name]).map((name) => `${name} grew by ${grown[name]}`);
  if (bytesPerCall > bytesPerCallMax) problems.push(`${bytesPerCall} bytes for each call`);
  return { bytesPerCall, grown, last, problems };
}
