import { randomBytes } from 'node:crypto';

import { type MediaStorage, MediaStorageError } from '../../tasks/media/media-storage.ts';

const sample = Buffer.from('weir looks whether files can be kept here');

/**
 * Writes, reads and deletes a small file, as for every finished video. Resolves with the problem (without a secret), or
 * undefined. The sweep of abandoned files deletes a file that stays. Rejects with the signal's reason.
 */
export async function checkMediaStorage(storage: MediaStorage, signal: AbortSignal): Promise<string | undefined> {
  const key = `check_${randomBytes(12).toString('hex')}`;
  try {
    await storage.write(key, once(sample), { mediaType: 'video/mp4', bytesMax: sample.length, signal });
    const content = await storage.open(key, undefined, signal);
    const pieces: Uint8Array[] = [];
    for await (const piece of content ?? []) pieces.push(piece);
    await storage.remove(key);
    return Buffer.concat(pieces).equals(sample) ? undefined : 'it returns other bytes than were written';
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof MediaStorageError)) return 'it cannot be used';
    const code = error.cause instanceof Error ? /^status \d+, code (\w+)$/.exec(error.cause.message)?.[1] : undefined;
    return code === undefined ? error.message : `${error.message}, code ${code}`;
  }
}

async function* once(piece: Uint8Array): AsyncIterable<Uint8Array> {
  yield piece;
}
