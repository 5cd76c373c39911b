import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { KeyMemory } from '../../accounts/key-snapshot.ts';
import type { Logger } from '../../platform/log.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import { nameKept } from '../config/find-config.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

/** For the key directory: the keys of the last run, and a function that stores the present ones. */
export type RememberedKeys = { readonly remembered?: KeyMemory; readonly onLoaded?: (memory: KeyMemory) => void };

const fileName = 'keys.sealed';

/**
 * Stores the keys of a shared database, sealed, in the data directory, so that a gateway can start during an outage of
 * the database. Does nothing if the database is a file in the data directory.
 */
export function rememberKeys(environment: Environment, logger: Logger): RememberedKeys {
  const place = findPlace(environment);
  if (place === undefined) return {};
  const remembered = read(place);
  return { ...(remembered === undefined ? {} : { remembered }), onLoaded: createWriter(place, logger) };
}

/** Whether a gateway can start during an outage of its database. */
export function remembersKeys(environment: Environment): boolean {
  const place = findPlace(environment);
  return place !== undefined && read(place) !== undefined;
}

type Place = { readonly path: string; readonly name: Uint8Array; readonly key: Buffer };

function findPlace(environment: Environment): Place | undefined {
  const name = nameKept('keys', environment);
  if (name === undefined) return undefined;
  return {
    path: join(environment.dataDirectory, fileName),
    name: Buffer.from(name),
    key: deriveKey(loadStoreKey(environment), 'weir keys: sealing'),
  };
}

/** Undefined if nothing is stored, or if it cannot be opened; then the start requires the database. */
function read({ path, name, key }: Place): KeyMemory | undefined {
  let sealed: Buffer;
  try {
    sealed = readFileSync(path);
  } catch {
    return undefined;
  }
  const opened = createSealer(key).open(name, sealed);
  // Only this program can seal it.
  return opened === undefined ? undefined : (parseJson(opened.toString('utf8')) as unknown as KeyMemory);
}

/** Writes the newest keys, one write at a time, each atomically. */
function createWriter({ path, name, key }: Place, logger: Logger): (memory: KeyMemory) => void {
  const sealer = createSealer(key);
  let next: KeyMemory | undefined;
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    try {
      for (let memory = next; memory !== undefined; memory = next) {
        next = undefined;
        const draft = `${path}.${process.pid}`;
        await writeFile(draft, sealer.seal(name, Buffer.from(JSON.stringify(memory))), { mode: 0o600, flush: true });
        await rename(draft, path);
      }
    } catch (error) {
      logger.warn({ err: error }, 'saving the key snapshot failed');
    } finally {
      isWriting = false;
    }
  }

  return (memory) => {
    next = memory;
    if (!isWriting) void write();
  };
}
