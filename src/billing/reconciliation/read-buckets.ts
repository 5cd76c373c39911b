import { type Members, readList, readObject, readPages } from './read-members.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/** A result of a bucket, its place in the file, and the beginning of its bucket. */
export type BucketResult = { readonly members: Members; readonly place: string; readonly startMs: number };

/**
 * Reads pages of buckets with results, the form of vendors' usage APIs: `{data: [{…, results: []}]}`, one page or a
 * list of them. The times are the beginning of the first bucket and the end of the last one.
 * @param timesOf beginning and end of a bucket, in Unix milliseconds
 * @throws ExportError with the place; also if there is no bucket
 */
export function readBuckets(
  json: unknown,
  unread: Set<string>,
  timesOf: (bucket: Members, place: string) => readonly [startMs: number, endMs: number],
): Pick<VendorUsage, 'startMs' | 'endMs'> & { readonly results: readonly BucketResult[] } {
  const buckets = readPages(json, unread).flatMap((page, index) => readObjects(page, 'data', `page ${index}`));
  if (buckets.length === 0) throw new ExportError('the file has no bucket');
  const read = buckets.map(({ members, place }) => {
    const [startMs, endMs] = timesOf(members, place);
    return { startMs, endMs, results: readObjects(members, 'results', place).map((result) => ({ ...result, startMs })) };
  });
  return {
    startMs: Math.min(...read.map(({ startMs }) => startMs)),
    endMs: Math.max(...read.map(({ endMs }) => endMs)),
    results: read.flatMap(({ results }) => results),
  };
}

function readObjects(members: Members, name: string, place: string): Pick<BucketResult, 'members' | 'place'>[] {
  return readList(members[name], `${place}.${name}`).map((value, index) => {
    const at = `${place}.${name}.${index}`;
    return { members: readObject(value, at), place: at };
  });
}
