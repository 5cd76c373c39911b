import type { S3mini } from 's3mini';

import { type MediaStorage, MediaStorageError } from '../../tasks/media/media-storage.ts';
import type { S3Connector } from './connect-s3.ts';
import { isMediaKey, toUnfinishedKey } from './media-key.ts';

/** Statuses of services that cannot list unfinished uploads. */
const notImplemented = [405, 501];
const pageKeysMax = 1000;

/**
 * Lists unfinished uploads and then objects. Each call continues where the one before it ended: otherwise objects that
 * are still in use would hide those after them forever. An empty result is the end, and the next call starts again.
 */
export function createS3Lister(connector: S3Connector): MediaStorage['listOlderThan'] {
  const { ask, prefix } = connector;
  let after: string | undefined;
  return async (beforeMs, limit) => {
    const keys = after === undefined ? (await listUploads(connector, beforeMs)).slice(0, limit) : [];
    after ??= '';
    while (keys.length < limit) {
      const from: string = after;
      const page = await ask((s3) => listPage(s3, prefix, from));
      for (const { Key: name, LastModified: written } of page) {
        if (keys.length >= limit) return keys;
        after = name;
        const key = name.slice(prefix.length);
        // Objects in deeper folders or with other names are not ours.
        if (isMediaKey(key) && written.getTime() < beforeMs) keys.push(key);
      }
      if (page.length === 0) break;
    }
    if (keys.length === 0) after = undefined;
    return keys;
  };
}

async function listPage(s3: S3mini, prefix: string, after: string): ReturnType<typeof listed> {
  return listed(s3.listObjectsPaged('/', prefix, pageKeysMax, undefined, after === '' ? {} : { 'start-after': after }));
}

async function listed(page: ReturnType<S3mini['listObjectsPaged']>) {
  const objects = (await page)?.objects;
  if (objects === undefined || objects === null) throw new MediaStorageError('unavailable', 'the object store has no such bucket');
  return objects;
}

async function listUploads({ askUnless, prefix }: S3Connector, beforeMs: number): Promise<readonly string[]> {
  const answer: unknown = await askUnless(notImplemented, (s3) =>
    s3.listMultipartUploads('/', prefix, 'GET', prefix === '' ? {} : { prefix }),
  );
  const result = field(answer, 'ListMultipartUploadsResult') ?? field(answer, 'listMultipartUploadsResult');
  const uploads = field(result, 'Upload');
  return (Array.isArray(uploads) ? uploads : [uploads]).flatMap((upload: unknown) => {
    const [name, id, startedAt] = [field(upload, 'Key'), field(upload, 'UploadId'), field(upload, 'Initiated')];
    if (typeof name !== 'string' || typeof id !== 'string' || typeof startedAt !== 'string') return [];
    const key = name.slice(prefix.length);
    if (!isMediaKey(key) || !(Date.parse(startedAt) < beforeMs)) return [];
    return [toUnfinishedKey(key, Buffer.from(id).toString('base64url'))];
  });
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
