import type { Change } from '../audit/change-author.ts';
import type { ContentErasure, ContentStore } from './content-store.ts';

/**
 * Orders that the recorded content of a user's calls before a moment is deleted: records in spools are not sent, and
 * gateways delete objects in buckets and folders within seconds. Records that a collector has received are its own.
 * @returns undefined if there is no such user
 */
export async function eraseContent(
  store: Pick<ContentStore, 'eraseContent'>,
  { userName, beforeMs }: { readonly userName: string; readonly beforeMs: number | undefined },
  change: Change,
): Promise<ContentErasure | undefined> {
  // Nothing of the future is erased: the user may choose again.
  const moment = Math.min(beforeMs ?? change.atMs, change.atMs);
  return await store.eraseContent({ userName: userName.normalize('NFC'), beforeMs: moment }, change);
}
