import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDirectoryStorage } from '../../store/media/directory-storage.ts';
import type { MediaObject } from '../../store/backup/backup-figures.ts';
import type { MediaStorage } from '../../tasks/media/media-storage.ts';
import { openMediaLater } from '../assembly/open-media-storage.ts';
import { readConfigNaming } from '../config/find-config.ts';
import type { Environment } from '../environment.ts';
import { backupFiles, type Manifest } from './manifest.ts';

type Place = { readonly environment: Environment; readonly databaseId: string };

/** The time for one file. */
const fileMs = 600_000;

/** The storage of the configuration, a folder or a bucket. */
const openStorage = ({ environment, databaseId }: Place): Promise<MediaStorage> =>
  openMediaLater({
    config: readConfigNaming('mediaStorage', environment)?.mediaStorage,
    environment,
    store: { databaseId: () => Promise.resolve(databaseId) },
  })();

/**
 * Writes the list of media files that the database refers to, and copies them if that is wanted. The list comes after
 * the database: files that were added since are not in it, and those that were deleted since are counted as missing.
 */
export async function saveMedia(
  options: Place & { readonly draft: string; readonly objects: readonly MediaObject[]; readonly withFiles: boolean },
): Promise<NonNullable<Manifest['media']>> {
  const { draft, objects, withFiles } = options;
  const list = objects.map((object) => `${JSON.stringify(object)}\n`).join('');
  writeFileSync(join(draft, backupFiles.media), list, { mode: 0o600, flush: true });
  const listed = { objects: objects.length, bytes: objects.reduce((sum, { bytes = 0 }) => sum + bytes, 0) };
  if (!withFiles) return listed;
  const missing = await copyFiles(objects, await openStorage(options), await openDirectoryStorage(join(draft, backupFiles.mediaFolder)));
  return { ...listed, files: { copied: objects.length - missing, missing } };
}

/** @returns how many files are missing, or do not match the database */
async function copyFiles(objects: readonly MediaObject[], from: MediaStorage, to: MediaStorage): Promise<number> {
  let missing = 0;
  for (const { key, mediaType = 'application/octet-stream', sha256 } of objects) {
    const signal = AbortSignal.timeout(fileMs);
    const file = await from.open(key, undefined, signal);
    const written = file === undefined ? undefined : await to.write(key, file, { mediaType, bytesMax: Number.MAX_SAFE_INTEGER, signal });
    if (written === undefined || (sha256 !== undefined && written.sha256 !== sha256)) missing += 1;
  }
  return missing;
}

/** Files that a restored database refers to, and how many of them its storage lacks. */
export type RestoredMedia = { readonly objects: number; readonly missing: number };

/** Puts the files of a backup into the storage, or finds which of the listed ones the storage has. */
export async function restoreMedia(folder: string, place: Place): Promise<RestoredMedia> {
  const path = join(folder, backupFiles.media);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  // The checksums of the backup were verified: this is what saveMedia wrote.
  const objects = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as MediaObject);
  if (objects.length === 0) return { objects: 0, missing: 0 };
  const storage = await openStorage(place);
  const copies = join(folder, backupFiles.mediaFolder);
  if (existsSync(copies))
    return { objects: objects.length, missing: await copyFiles(objects, await openDirectoryStorage(copies), storage) };
  let missing = 0;
  for (const { key } of objects) if (!(await isThere(storage, key))) missing += 1;
  return { objects: objects.length, missing };
}

async function isThere(storage: MediaStorage, key: string): Promise<boolean> {
  const bytes = await storage.open(key, { start: 0, end: 0 }, AbortSignal.timeout(fileMs));
  await bytes?.[Symbol.asyncIterator]().return?.();
  return bytes !== undefined;
}
