import { type Members, readList, readObject, readPages } from './read-members.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

/** A result of a bucket, where it stands in the file, and when its bucket begins. */
export type BucketResult = { readonly members: Members; readonly place: string; readonly startMs: number };

/**
 * Reads pages of buckets with results, as the usage APIs of vendors answer them: `{data: [{…, results: []}]}`, one page or a list of them. The times are those of the first bucket's
 * beginning and of the last one's end.
 * @param timesOf when a bucket begins and ends, in Unix milliseconds
 * @throws ExportError naming the place; also where there is no bucket
 */
export function readBuckets(
  json: unknown,
  unread: Set<string>,
  timesOf: (bucket: Members, place: string) => readonly [startMs: number, endMs: number],
): Pick<VendorUsage, 'startMs' | 'endMs'> & { readonly results: readonly BucketResult[] } {
  const buckets = readPages(json, unread).flatMap((page, index) => readObjects(page, 'data', `page ${index}`));
  if (buckets.length === 0) throw new ExportError('the file holds no bucket');
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
