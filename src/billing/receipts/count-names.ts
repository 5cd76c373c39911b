import { meterNames, meters, toolMeters } from '../../inference/meters.ts';

/** Counts with their names in receipts: `cacheWrite5mTokens` becomes `cache_write_5m_tokens`. */
export function writeCounts(counts: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[writeName(name), count] as const])),
  );
}

/** The counts of a receipt with their names in rating. */
export function readCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [readName(name), count]));
}

const namesWritten = new Map<string, string>(
  [...Object.entries(meters), ...Object.entries(toolMeters)].map(([meter, { name }]) => [meter, name]),
);
const namesRead = new Map([...namesWritten].map(([meter, name]) => [name, meter]));
const usageNames: ReadonlySet<string> = new Set(meterNames.map(writeName));

/** Whether a receipt has a count of this name. */
export function isCountName(name: string): boolean {
  return usageNames.has(name);
}

function writeName(meter: string): string {
  return namesWritten.get(meter) ?? meter;
}

/** The name of an unknown count, for example of another version of Weir, is not changed: it has no price here. */
function readName(name: string): string {
  return namesRead.get(name) ?? name;
}
