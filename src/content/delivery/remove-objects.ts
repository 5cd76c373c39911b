import type { ContentStore } from '../content-store.ts';
import type { ObjectPlace } from './write-objects.ts';

const pageRows = 200;

/**
 * Deletes the objects of a place that were erased or are too old. The store forgets them afterwards.
 * @param beforeMs objects whose last call is older are deleted; undefined keeps all
 * @returns how many were deleted. Rejects with the first error; the rest stays for the next time
 */
export async function removeObjects(
  place: ObjectPlace,
  store: Pick<ContentStore, 'listRemovableObjects' | 'forgetObjects'>,
  { beforeMs, signal }: { readonly beforeMs: number | undefined; readonly signal: AbortSignal },
): Promise<number> {
  let removed = 0;
  for (;;) {
    signal.throwIfAborted();
    const names = await store.listRemovableObjects({ place: place.id, beforeMs, limit: pageRows });
    if (names.length === 0) return removed;
    for (const name of names) await place.remove(name);
    await store.forgetObjects({ place: place.id, names });
    removed += names.length;
  }
}
