import { createHash, randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

import type { ContentStore } from '../../../content/content-store.ts';
import type { ContentSink } from '../../../content/delivery/content-sink.ts';
import { otlpContent } from '../../../content/delivery/otlp-content.ts';
import { createObjectSink, type ObjectPlace } from '../../../content/delivery/write-objects.ts';
import type { Clock } from '../../../platform/clock.ts';
import { postGuarded } from '../../../platform/http/fetch-guarded.ts';
import { makeDirectoryAsync } from '../../../platform/make-directory.ts';
import type { ContentSinkConfig } from '../../config/content-schema.ts';

const timeoutMs = 30_000;
/** The file with the id of a folder, so that gateways on several machines know whether theirs is the same. */
const folderIdFile = '.weir-content';

type Parts = {
  readonly store: Pick<ContentStore, 'noteObject' | 'confirmObject'> & { readonly databaseId: () => Promise<string> };
  readonly clock: Clock;
  readonly dataDirectory: string;
};

/** A sink, and the place of its objects. The place is opened when it is used first, and again after a failure. */
export type OpenedSink = {
  readonly sink: ContentSink;
  /** Absent for sinks without objects. */
  readonly place?: () => Promise<ObjectPlace>;
  readonly retentionDays: number | undefined;
};

export function createContentSink(name: string, config: ContentSinkConfig, parts: Parts): OpenedSink {
  const { type, retentionDays } = config;
  if (type === 'otlp') {
    const { url = '', headers = {} } = config;
    const resource = { 'service.name': 'weir', 'host.name': hostname() };
    const send: ContentSink['send'] = ({ records }, signal) => postLogs(otlpContent(records, resource), { url, headers, signal });
    return { sink: { name, send }, retentionDays: undefined };
  }
  const place = remember(() => (type === 'folder' ? openFolder(config, parts) : openBucket(config, parts)));
  const send: ContentSink['send'] = async (batch, signal) => {
    const opened = createObjectSink({ name, place: await place(), store: parts.store, clock: parts.clock });
    await opened.send(batch, signal);
  };
  return { sink: { name, send }, place, retentionDays };
}

/** Keeps the result of the first success. */
function remember<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let present: Promise<Result> | undefined;
  return () => {
    present ??= work().catch((error: unknown) => {
      present = undefined;
      throw error;
    });
    return present;
  };
}

/** The message of an error has no address, which may contain a credential. */
async function postLogs(
  body: string,
  { url, headers, signal }: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<void> {
  const status = await postGuarded(url, body, {
    lookUp: (name) => lookup(name, { all: true }),
    // The operator has named the collector, which is usually in the same network.
    isAllowed: () => true,
    allowAnyServer: true,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'weir' },
    timeoutMs,
    signal,
  });
  if (status < 200 || status > 299) throw new Error(`the collector answered with status ${status}`);
}

/** A folder: `<day>/<name>.jsonl`. Only the user of the program may read the files. */
async function openFolder({ path = '' }: ContentSinkConfig, { dataDirectory }: Parts): Promise<ObjectPlace> {
  const folder = isAbsolute(path) ? path : join(dataDirectory, path);
  await makeDirectoryAsync(folder);
  const id = await readFolderId(join(folder, folderIdFile));
  const pathOf = (name: string): string => join(folder, name.slice(0, 10), `${name}.jsonl`);
  return {
    id: `folder:${id}`,
    write: async (name, bytes, signal) => {
      const place = pathOf(name);
      const temporary = `${place}.${randomUUID()}`;
      await makeDirectoryAsync(dirname(place));
      try {
        await writeSynced(temporary, bytes, signal);
        await rename(temporary, place);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  };
}

async function writeSynced(path: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes, { signal });
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readFolderId(path: string): Promise<string> {
  const id = randomUUID();
  await writeFile(path, id, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  return (await readFile(path, 'utf8')).trim();
}

/** An object store, below a prefix of the database. */
async function openBucket({ s3 }: ContentSinkConfig, { store }: Parts): Promise<ObjectPlace> {
  if (s3 === undefined) throw new Error('a sink of type s3 has no object store');
  // Its client is loaded only if it is used.
  const { createS3Storage } = await import('../../../store/media/s3-storage.ts');
  const prefix = `${s3.prefix ?? ''}content-${await store.databaseId()}/`;
  const storage = createS3Storage({ ...s3, prefix });
  return {
    id: `s3:${createHash('sha256')
      .update(JSON.stringify([s3.endpoint, s3.bucket, prefix]))
      .digest('hex')
      .slice(0, 32)}`,
    write: async (name, bytes, signal) => {
      const source = (async function* () {
        yield bytes;
      })();
      await storage.write(name, source, { mediaType: 'application/x-ndjson', bytesMax: bytes.length, signal });
    },
    remove: (name) => storage.remove(name),
  };
}
