import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { residentBytes } from '../support/process-memory.ts';
import type { ToldResources } from './tell-resources.ts';

/** What a process holds at one moment. */
export type Sample = {
  /** Since the start of the measurement. */
  readonly minutes: number;
  readonly calls: number;
  readonly failed: number;
  readonly processorSeconds: number;
  /** Resident memory of all threads before and after they collected their garbage. */
  readonly residentMb: number;
  readonly settledMb: number;
  /** The part of it without pages of files, which the system takes back when it needs them. */
  readonly ownMb: number;
  /** The most of it that the page caches of SQLite can have: each connection keeps up to 16 MB of the database. */
  readonly pagesMb: number;
  readonly heapMb: number;
  readonly threadHeapsMb: number;
  /** Of each kind of thread. */
  readonly threadHeaps: Readonly<Record<string, number>>;
  readonly externalMb: number;
  readonly threads: number;
  readonly descriptors: number;
  /** Descriptors by what they are: sockets, names of files without their numbers. */
  readonly descriptorKinds: Readonly<Record<string, number>>;
  readonly timers: number;
  readonly active: Readonly<Record<string, number>>;
  /** The database, and everything else in the data directory. */
  readonly databaseBytes: number;
  readonly otherBytes: number;
};

const tellWithinMs = 300_000;
/** `pragma cache_size` of src/store/sqlite/open-store-database.ts. */
const pageCacheBytes = 16 * 1024 * 1024;

/** Arguments of node for a program that `measure` can question; `file` is where it writes its answers. */
export const measuredNodeArguments = (file: string): readonly string[] => [
  '--import',
  `${pathToFileURL(join(import.meta.dirname, 'tell-resources.ts')).href}?${encodeURIComponent(file)}`,
];

/** Asks a program that was started with {@link measuredNodeArguments}. Linux only. */
export async function measure(
  pid: number,
  options: { readonly file: string; readonly dataDirectory: string },
): Promise<Omit<Sample, 'minutes' | 'calls' | 'failed'>> {
  const residentMb = megabytes(residentBytes(pid) ?? 0);
  rmSync(options.file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const limit = AbortSignal.timeout(tellWithinMs);
  while (!existsSync(options.file)) await delay(50, undefined, { signal: limit });
  const told = JSON.parse(readFileSync(options.file, 'utf8')) as ToldResources;
  const statistics = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const descriptorKinds = countDescriptors(pid);
  const databaseBytes = statSync(join(options.dataDirectory, 'weir.sqlite')).size;
  return {
    // User and system time, in hundredths of a second.
    processorSeconds: Math.round((Number(statistics[11]) + Number(statistics[12])) / 100),
    residentMb,
    settledMb: megabytes(residentBytes(pid) ?? 0),
    ownMb: megabytes(residentBytes(pid, 'RssAnon') ?? 0),
    pagesMb: megabytes((descriptorKinds['weir.sqlite'] ?? 0) * Math.min(pageCacheBytes, databaseBytes)),
    heapMb: megabytes(told.heap),
    threadHeapsMb: megabytes(Object.values(told.threadHeaps).reduce((sum, bytes) => sum + bytes, 0)),
    threadHeaps: Object.fromEntries(Object.entries(told.threadHeaps).map(([name, bytes]) => [name, megabytes(bytes)])),
    externalMb: megabytes(told.external),
    threads: readdirSync(`/proc/${pid}/task`).length,
    descriptors: Object.values(descriptorKinds).reduce((sum, count) => sum + count, 0),
    descriptorKinds,
    timers: told.timers,
    active: told.active,
    databaseBytes,
    otherBytes: folderBytes(options.dataDirectory) - databaseBytes,
  };
}

const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 18) / 4;

function countDescriptors(pid: number): Record<string, number> {
  const kinds: Record<string, number> = {};
  const { connections, listening } = readConnections(pid);
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    let target: string;
    try {
      target = readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      // It was closed meanwhile.
      continue;
    }
    const kind = target.startsWith('/')
      ? (target.split('/').at(-1) ?? '').replaceAll(/[0-9a-f-]{6,}|\d+/g, '#')
      : target.startsWith('socket:')
        ? describeSocket(connections.get(target.slice('socket:['.length, -1)), listening)
        : target.replace(/:.*/, '');
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

/** A socket of the machine: its port, and whether it waits for connections. */
type Connection = { readonly port: string; readonly isListening: boolean };

/** TCP sockets by their inodes, and the ports at which somebody listens (proc_pid_net(5): address, peer, state 0A). */
function readConnections(pid: number): {
  readonly connections: ReadonlyMap<string, Connection>;
  readonly listening: ReadonlySet<string>;
} {
  const connections = new Map<string, Connection>();
  for (const table of ['tcp', 'tcp6'])
    for (const line of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1)) {
      const columns = line.trim().split(/\s+/);
      const [address = '', state, inode = ''] = [columns[1], columns[3], columns[9]];
      connections.set(inode, { port: address.split(':')[1] ?? '', isListening: state === '0A' });
    }
  return { connections, listening: new Set([...connections.values()].filter((one) => one.isListening).map(({ port }) => port)) };
}

/** Clients reach a port at which the process listens; its own connections leave from other ports. */
function describeSocket(connection: Connection | undefined, listening: ReadonlySet<string>): string {
  if (connection === undefined) return 'socket';
  if (connection.isListening) return 'listening socket';
  return listening.has(connection.port) ? 'connection of a client' : 'connection to an upstream';
}

function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    try {
      bytes += statSync(join(entry.parentPath, entry.name)).size;
    } catch {
      // A file of a call that has ended meanwhile.
    }
  }
  return bytes;
}
