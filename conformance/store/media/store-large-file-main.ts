import { createHash } from 'node:crypto';

import { openDirectoryStorage } from '../../../src/store/media/directory-storage.ts';
import { createS3Storage } from '../../../src/store/media/s3-storage.ts';

/**
 * Writes a large file into a storage and reads it back, and prints how much the program's memory grew. Arguments:
 * directory, or the settings of an object store as JSON; bytes.
 */
const [place = '', bytes = '0'] = process.argv.slice(2);
const storage = place.startsWith('{') ? createS3Storage(JSON.parse(place)) : await openDirectoryStorage(place);
const { signal } = new AbortController();
const beforeKb = process.resourceUsage().maxRSS;

async function* source(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < Number(bytes); at += 65_536) yield Buffer.alloc(65_536, at >>> 16);
}

const written = await storage.write('large', source(), { mediaType: 'video/mp4', bytesMax: Number(bytes), signal });
const hash = createHash('sha256');
for await (const piece of (await storage.open('large', undefined, signal)) ?? []) hash.update(piece);
process.stdout.write(
  JSON.stringify({ same: hash.digest('hex') === written.sha256, bytes: written.bytes, grownKb: process.resourceUsage().maxRSS - beforeKb }),
);
