import { createHash } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import type { ContentStore } from '../content-store.ts';
import type { ContentRecord } from '../records/content-record.ts';
import type { ContentBatch, ContentSink } from './content-sink.ts';

/** A bucket or a folder with objects of JSON Lines. */
export type ObjectPlace = {
  /** Identifies the bucket or folder, for all processes that write to it. */
  readonly id: string;
  /** Writes an object as a whole. An object of this name is replaced. */
  readonly write: (name: string, bytes: Uint8Array, signal: AbortSignal) => Promise<void>;
  /** Deletes an object. A missing object is not an error. */
  readonly remove: (name: string) => Promise<void>;
};

/** The objects of one user and day: letters, digits, `_` and `-`. */
function nameOf(day: string, userId: string, batchId: string): string {
  return `${day}_${digest(userId)}_${batchId}`;
}

/** Folders do not show who the users are. */
function digest(userId: string): string {
  return createHash('sha256').update(userId).digest('hex').slice(0, 16);
}

/**
 * A sink that writes objects, each with the calls of one user on one day, so that a user's content can be erased. The
 * store knows every object before it exists. A batch that is sent again replaces its own objects.
 */
export function createObjectSink(parts: {
  readonly name: string;
  readonly place: ObjectPlace;
  readonly store: Pick<ContentStore, 'noteObject' | 'confirmObject'>;
  readonly clock: Clock;
}): ContentSink {
  const { name, place, store, clock } = parts;
  const writeOne = async (records: readonly ContentRecord[], objectName: string, signal: AbortSignal): Promise<void> => {
    const [first] = records;
    if (first === undefined) return;
    const times = records.map(({ at }) => Date.parse(at));
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const known = { place: place.id, name: objectName };
    const isWanted = await store.noteObject({
      ...known,
      userId: first.user_id,
      user: first.user,
      fromMs: Math.min(...times),
      toMs: Math.max(...times),
      records: records.length,
      bytes: bytes.length,
      nowMs: clock.nowMs(),
    });
    if (!isWanted) throw new Error('content was erased while it was sent');
    await place.write(objectName, bytes, signal);
    // An erasure that came meanwhile may have looked for the object before it existed.
    if (!(await store.confirmObject(known))) await place.remove(objectName);
  };
  return {
    name,
    send: async ({ id, records }: ContentBatch, signal) => {
      const objects = Map.groupBy(records, ({ at, user_id }) => nameOf(at.slice(0, 10), user_id, id));
      for (const [objectName, own] of objects) await writeOne(own, objectName, signal);
    },
  };
}
