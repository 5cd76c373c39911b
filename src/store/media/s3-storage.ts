import type { S3mini, UploadPart } from 's3mini';

import { type MediaStorage, MediaStorageError } from '../../tasks/media/media-storage.ts';
import { createS3Connector, type S3Connector, type S3Settings } from './connect-s3.ts';
import type { FileNames } from './directory-storage.ts';
import { gatherParts } from './gather-parts.ts';
import { createS3Lister } from './list-s3.ts';
import { measureSource } from './measure-source.ts';
import { assertMediaKey, readUnfinishedKey } from './media-key.ts';
import { openS3Object } from './open-s3-object.ts';

/** All services accept parts of 5 MiB or more. One part is in memory, and a second time while it is sent. */
const partBytes = 8 * 1024 * 1024;
const partAttemptsMax = 3;

/**
 * Stores files in a bucket of an object store with the interface of Amazon S3. A file of up to 8 MiB is one request, a
 * larger one a multipart upload; an object becomes visible only when it is complete. Requests are signed and sent by
 * s3mini, with one client for each operation, so that its signal reaches all of them.
 */
export function createS3Storage(settings: S3Settings, { ending }: FileNames = { ending: '' }): MediaStorage {
  const connector = createS3Connector(settings);
  const nameOf = (key: string): string => {
    assertMediaKey(key);
    return `${connector.prefix}${key}${ending}`;
  };
  return {
    write: async (key, source, { mediaType, bytesMax, signal }) => {
      const name = nameOf(key);
      signal.throwIfAborted();
      const measured = measureSource(source, { bytesMax, signal });
      await upload({ connector, name, mediaType, signal }, gatherParts(measured.pieces, partBytes));
      return measured.finish();
    },
    open: async (key, range, signal) => openS3Object(connector, nameOf(key), range, signal),
    remove: async (key) => {
      const unfinished = readUnfinishedKey(key);
      if (unfinished === undefined) await connector.ask((s3) => s3.deleteObject(nameOf(key)));
      else await abortUpload(connector, nameOf(unfinished.key), Buffer.from(unfinished.name, 'base64url').toString());
    },
    listOlderThan: createS3Lister(connector),
  };
}

type Upload = { readonly connector: S3Connector; readonly name: string; readonly mediaType: string; readonly signal: AbortSignal };

async function upload(into: Upload, parts: AsyncGenerator<Uint8Array, void>): Promise<void> {
  try {
    const step = await parts.next();
    const first = step.done === true ? new Uint8Array() : step.value;
    if (first.length === partBytes) await uploadInParts(into, first, parts);
    else await into.connector.ask((s3) => s3.putObject(into.name, first, into.mediaType), into.signal);
  } finally {
    await parts.return();
  }
}

async function uploadInParts(into: Upload, first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<void> {
  const { connector, name, mediaType, signal } = into;
  const id = await connector.ask((s3) => s3.getMultipartUploadId(name, mediaType), signal);
  const done: UploadPart[] = [];
  const send = async (part: Uint8Array): Promise<void> => {
    done.push(await uploadPart(into, (s3) => s3.uploadPart(name, id, part, done.length + 1)));
  };
  try {
    await send(first);
    for await (const part of rest) await send(part);
    const { etag } = await connector.ask((s3) => s3.completeMultipartUpload(name, id, done), signal);
    // The service may answer 200 before it has joined the parts, and then write an error into the body.
    if (typeof etag !== 'string' || etag === '') throw new MediaStorageError('unavailable', 'the object store did not complete the upload');
  } catch (error) {
    // The sweep of unfinished files finds parts that remain. The first error is the one that matters.
    await abortUpload(connector, name, id).catch(() => undefined);
    throw error;
  }
}

async function uploadPart({ connector, signal }: Upload, send: (s3: S3mini) => Promise<UploadPart>): Promise<UploadPart> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connector.ask(send, signal);
    } catch (error) {
      // A part may be sent again under its number. Without a retry, all parts before it would be lost.
      if (attempt === partAttemptsMax || signal.aborted) throw error;
      await connector.pause(attempt, signal);
    }
  }
}

async function abortUpload({ askUnless }: S3Connector, name: string, id: string): Promise<void> {
  await askUnless([404], (s3) => s3.abortMultipartUpload(name, id));
}
