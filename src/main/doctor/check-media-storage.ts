import { createS3Storage } from '../../store/media/s3-storage.ts';
import { checkMediaStorage } from '../assembly/check-media-storage.ts';
import type { MediaStorageConfig } from '../config/media-storage-schema.ts';
import { type Finding, tidyWords } from './finding.ts';

const subject = 'object store';

/**
 * Checks whether an object store works. A local folder is in the data directory, which is checked anyway. Rejects with
 * the signal's reason.
 */
export async function checkObjectStore(
  s3: NonNullable<MediaStorageConfig['s3']>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Finding> {
  const place = tidyWords(`bucket ${s3.bucket} at ${s3.endpoint}`);
  const begunMs = performance.now();
  const limit = AbortSignal.timeout(timeoutMs);
  const storage = createS3Storage({ ...s3, requestMs: timeoutMs, idleMs: timeoutMs });
  const problem = await checkMediaStorage(storage, AbortSignal.any([signal, limit])).catch(() => 'it does not answer in time');
  signal.throwIfAborted();
  const tookMs = performance.now() - begunMs;
  if (problem === undefined) return { verdict: 'good', subject, says: `${place} stores, returns and deletes files`, tookMs };
  return { verdict: 'bad', subject, says: tidyWords(`${place}: ${problem}`), advice: adviseOn(problem), tookMs };
}

function adviseOn(problem: string): string {
  if (/status 40[13]/.test(problem))
    return 'check mediaStorage.s3: the key, its secret, the region, and that the key may put, get and delete objects of the bucket';
  if (problem.includes('status 404'))
    return 'check mediaStorage.s3: the bucket has to exist, and forcePathStyle to be right for the service';
  return 'check mediaStorage.s3.endpoint, and that this machine reaches it; until then, finished videos wait';
}
