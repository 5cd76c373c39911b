import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Client, type QueryArrayResult } from 'pg';

import { removal } from './start-weir.ts';

const run = promisify(execFile);
const cacheFolder = join(import.meta.dirname, '../../node_modules/.cache');

/** A PostgreSQL server of a test's own, reached by a socket in a folder of its own. */
export type PostgresServer = {
  /** @param database `weir` by default @param role the owner of everything by default; no role has a password */
  readonly url: (database?: string, role?: string) => string;
  /**
   * Runs statements as the owner, or as a role, on a connection of their own. Rejects with the server's error. Resolves
   * with the rows, one a line, columns with | between them.
   */
  readonly query: (sql: string, options?: { readonly database?: string; readonly role?: string }) => Promise<string>;
  /**
   * Makes a database and resolves with its URL.
   * @param template the database to copy, which must not be open anywhere; empty by default
   */
  readonly createDatabase: (name: string, template?: string) => Promise<string>;
  /** Sends every process of the server a signal: SIGKILL is a crash, SIGSTOP makes it silent until SIGCONT. */
  readonly signal: (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => void;
  /** The ids of all its processes. */
  readonly processIds: () => readonly number[];
  /** Starts it again after a crash; resolves when it answers. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The newest server that Debian's packages installed, or undefined. */
function findPostgres(): string | undefined {
  return globSync('/usr/lib/postgresql/*/bin')
    .filter((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')))
    .toSorted((left, right) => Number(/\d+/.exec(left)?.[0]) - Number(/\d+/.exec(right)?.[0]))
    .at(-1);
}

/** The reason why suites that need a server are skipped; false if one is installed. */
export const skipPostgres: false | string =
  findPostgres() === undefined ? 'no PostgreSQL server is installed (apt-get install postgresql)' : false;

/** The server refuses to run as root: then it runs as the user that its package made. */
function asServerUser(command: string, parameters: readonly string[]): readonly [string, readonly string[]] {
  return process.getuid?.() === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...parameters]]
    : [command, parameters];
}

/** The user and group of the server's files, if they are not those of this process. */
function serverIds(): readonly [uid: number, gid: number] | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return [id('-u'), id('-g')];
}

/**
 * Starts a new, empty server with the database `weir`.
 * @param keptIn an existing folder, in which the server's files stay. If it has the files of an earlier server, that
 * one is started again.
 */
export async function startPostgres(settings: readonly string[] = [], keptIn?: string): Promise<PostgresServer> {
  const binaries = findPostgres();
  if (binaries === undefined) throw new Error(String(skipPostgres));
  const folder = keptIn ?? mkdtempSync(join(tmpdir(), 'weir-pg-'));
  chmodSync(folder, 0o755);
  const ids = serverIds();
  if (ids !== undefined) chownSync(folder, ...ids);
  const data = join(folder, 'data');
  const isNew = !existsSync(join(data, 'PG_VERSION'));
  const guard = guardServer(folder, data, keptIn !== undefined);
  if (isNew) await makeCluster(binaries, folder, data);
  const server = createServer({ binaries, folder, data, settings, guard, isKept: keptIn !== undefined });
  await server.restart();
  if (isNew) await server.createDatabase('weir');
  return server;
}

/**
 * Makes the files of an empty server. The first time they are kept in the cache: to copy them takes half of the
 * processor time of making them, and a run of the tests starts dozens of servers.
 */
async function makeCluster(binaries: string, folder: string, data: string): Promise<void> {
  const { mtimeMs, size } = statSync(join(binaries, 'postgres'));
  const kept = join(cacheFolder, `postgres-${size}-${Math.trunc(mtimeMs)}-${process.getuid?.()}`);
  if (existsSync(kept)) {
    await run('cp', ['-a', kept, data]);
    // A cache that was copied with its checkout belongs to who copied it, and the server refuses such files.
    const owner = serverIds();
    if (owner !== undefined && statSync(data).uid !== owner[0]) await run('chown', ['-R', owner.join(':'), data]);
    return;
  }
  const [initdb, parameters] = asServerUser(join(binaries, 'initdb'), [
    `--pgdata=${data}`,
    '--username=owner',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ]);
  await run(initdb, parameters, { cwd: folder });
  const fresh = `${kept}.${process.pid}`;
  mkdirSync(cacheFolder, { recursive: true });
  await run('cp', ['-a', data, fresh]);
  try {
    renameSync(fresh, kept);
  } catch {
    // Another process was first.
    rmSync(fresh, removal);
  }
}

const startTimeoutMs = 60_000;

/**
 * Waits in a process of its own for the end of this one. If it was killed, as a suite is at its limit, its server ends,
 * and its folder is removed, unless it is to be kept.
 */
function guardServer(folder: string, data: string, isKept: boolean): ChildProcess {
  // The server works in its data directory: another process of the same id does not.
  const script =
    'cat; pid=$(head -n 1 "$2/postmaster.pid") && [ "$(readlink "/proc/$pid/cwd")" = "$2" ] && kill -QUIT "$pid" && kill -CONT "$pid"; ' +
    'while [ -e "/proc/$pid/cwd" ] && [ "$(readlink "/proc/$pid/cwd")" = "$2" ]; do sleep 0.1; done; [ -n "$3" ] || rm -rf "$1"';
  const guard = spawn('sh', ['-c', script, 'sh', folder, data, isKept ? 'kept' : ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  return guard;
}

type ServerParts = {
  readonly binaries: string;
  readonly folder: string;
  readonly data: string;
  readonly settings: readonly string[];
  readonly guard: ChildProcess;
  readonly isKept: boolean;
};

function createServer({ binaries, folder, data, settings, guard, isKept }: ServerParts): PostgresServer {
  let child: ReturnType<typeof spawn> | undefined;
  // A client in this process: to start the server's own takes longer than most statements.
  const query: PostgresServer['query'] = async (sql, { database = 'weir', role = 'owner' } = {}) => {
    const client = new Client({ host: folder, user: role, database, types: { getTypeParser: () => String } });
    // A server that is killed closes the connection; the statement reports it.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const outcome: unknown = await client.query({ text: sql, rowMode: 'array' });
      const results = (Array.isArray(outcome) ? outcome : [outcome]) as readonly QueryArrayResult<(string | null)[]>[];
      return results.flatMap(({ rows }) => rows.map((row) => row.map((value) => value ?? '').join('|'))).join('\n');
    } finally {
      await client.end();
    }
  };
  const url: PostgresServer['url'] = (database = 'weir', role = 'owner') =>
    `postgresql://${encodeURIComponent(role)}@localhost/${database}?host=${encodeURIComponent(folder)}`;

  const start = async (): Promise<void> => {
    const options = [`unix_socket_directories=${folder}`, 'listen_addresses=', 'max_connections=60', 'shared_buffers=32MB', ...settings];
    const [command, parameters] = asServerUser(join(binaries, 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])]);
    const printed = join(folder, 'server.log');
    const launch = (): ReturnType<typeof spawn> => {
      const log = openSync(printed, 'w');
      try {
        return spawn(command, parameters, { cwd: folder, stdio: ['ignore', 'ignore', log], detached: true });
      } finally {
        closeSync(log);
      }
    };
    child = launch();
    const deadline = performance.now() + startTimeoutMs;
    for (;;) {
      try {
        await query('select 1', { database: 'postgres' });
        return;
      } catch (error) {
        if (performance.now() > deadline)
          throw new Error(`PostgreSQL does not answer: ${readFileSync(printed, 'utf8').slice(-1000)}`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, 20));
        // It refuses to start while a process of the killed server still has its memory.
        if (child.exitCode !== null) child = launch();
      }
    }
  };
  /** The server and its descendants: those of a process group of their own, and those that left it. */
  const signal: PostgresServer['signal'] = (name) => {
    // Stopped first, so that it starts no process while its descendants are listed.
    if (name !== 'SIGCONT') tell(child?.pid, 'SIGSTOP');
    for (const pid of listFamily(child?.pid)) tell(pid, name);
  };
  const end = async (name: 'SIGQUIT' | 'SIGINT'): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(name);
    await exited;
  };
  return {
    url,
    query,
    createDatabase: async (name, template = 'template1') => {
      // A copy of the files takes a quarter of the time of one that writes each page to the log.
      await query(`create database "${name}" template "${template}" strategy file_copy`, { database: 'postgres' });
      return url(name);
    },
    signal,
    processIds: () => listFamily(child?.pid),
    restart: start,
    close: async () => {
      signal('SIGCONT');
      // SIGQUIT is a crash: the next start would repeat the log.
      await end(isKept ? 'SIGINT' : 'SIGQUIT');
      if (!isKept) rmSync(folder, removal);
      guard.stdin?.end();
    },
  };
}

function tell(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

/** A process and its children, by id. */
function listFamily(pid: number | undefined): readonly number[] {
  if (pid === undefined) return [];
  const family = [pid];
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      // The state and the parent follow the name, which may contain anything.
      const [, parent] = readFileSync(`/proc/${entry}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (Number(parent) === pid) family.push(Number(entry));
    } catch {
      // It ended meanwhile.
    }
  }
  return family;
}
