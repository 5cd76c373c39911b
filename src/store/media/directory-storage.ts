import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { makeDirectoryAsync } from '../../platform/make-directory.ts';
import { type MediaStorage, MediaStorageError } from '../../tasks/media/media-storage.ts';
import { listDirectory, unfinishedFolder } from './list-directory.ts';
import { measureSource } from './measure-source.ts';
import { assertMediaKey, readUnfinishedKey, toUnfinishedKey } from './media-key.ts';
import { isMissing, readPart } from './read-part.ts';

/** How files of people are named, who look for them by hand: all in one folder, with this ending. */
export type FileNames = { readonly ending: string };

/**
 * Stores files in a directory, in two levels of folders named by the hash of the key, so that no folder grows large. A
 * file is written under a temporary name, synced and then renamed: it exists completely or not at all, also after a
 * power cut, and a reader of the replaced file can go on reading it. Only the user of the program may read the files.
 * @param names for few files that people read: then they are in the directory itself
 * @throws MediaStorageError if the directory cannot be used
 */
export async function openDirectoryStorage(directory: string, names?: FileNames): Promise<MediaStorage> {
  const unfinished = join(directory, unfinishedFolder);
  const placeOf = (key: string): string => {
    assertMediaKey(key);
    if (names !== undefined) return join(directory, `${key}${names.ending}`);
    const hash = createHash('sha256').update(key).digest('hex');
    return join(directory, hash.slice(0, 2), hash.slice(2, 4), key);
  };
  await onDisk(() => makeDirectoryAsync(unfinished));
  return {
    write: async (key, source, { bytesMax, signal }) => {
      const place = placeOf(key);
      signal.throwIfAborted();
      const temporary = join(unfinished, toUnfinishedKey(key, randomUUID()));
      const measured = measureSource(source, { bytesMax, signal });
      try {
        await writeAll(temporary, measured.pieces);
        signal.throwIfAborted();
        await onDisk(() => publish(temporary, place));
      } catch (error) {
        // The sweep of unfinished files finds a file that cannot be removed here. The first error is the one that
        // matters.
        await rm(temporary, { force: true }).catch(() => undefined);
        throw error;
      }
      return measured.finish();
    },
    open: async (key, range, signal) => {
      const place = placeOf(key);
      signal.throwIfAborted();
      const handle = await onDisk(() => openExisting(place));
      return handle === undefined ? undefined : readPart(handle, range, signal);
    },
    remove: async (key) => {
      const place = readUnfinishedKey(key) === undefined ? placeOf(key) : join(unfinished, key);
      await onDisk(() => rm(place, { force: true }));
    },
    listOlderThan: createLister(directory),
  };
}

function createLister(directory: string): MediaStorage['listOlderThan'] {
  // Each call continues where the one before it ended: otherwise files that are still in use would hide those after
  // them forever.
  let after: string | undefined;
  return (beforeMs, limit) =>
    onDisk(async () => {
      const listed = await listDirectory({ directory, beforeMs, limit, after });
      after = listed.after;
      return listed.keys;
    });
}

async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new MediaStorageError('unavailable', 'the directory of the media files cannot be used', { cause });
  }
}

async function writeAll(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await onDisk(() => open(path, 'wx', 0o600));
  try {
    for await (const piece of pieces) await onDisk(() => writePiece(handle, piece));
    await onDisk(() => handle.sync());
  } finally {
    await handle.close();
  }
}

async function writePiece(handle: FileHandle, piece: Uint8Array): Promise<void> {
  // A disk that is nearly full may write only a part.
  for (let at = 0; at < piece.length;) at += (await handle.write(piece, at)).bytesWritten;
}

async function publish(temporary: string, place: string): Promise<void> {
  const folder = dirname(place);
  await makeDirectoryAsync(folder);
  await rename(temporary, place);
  // The names of the file and of new folders must be synced too.
  for (const path of [folder, dirname(folder), dirname(dirname(folder))]) await syncFolder(path);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
