import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { describeRoles } from '../../src/store/postgres/roles.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/start-postgres.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { workerPids } from '../support/worker-pids.ts';

export type Engine = 'sqlite' | 'postgres';

/** Three gateway processes with one database. */
export type Fleet = {
  readonly start: () => Promise<void>;
  /** The address of the n-th call. */
  readonly urlFor: (number: number) => string;
  readonly apiKey: () => string;
  /** Kills one process without warning and starts it again; with PostgreSQL sometimes also the database server. */
  readonly kill: (number: number, random: () => number) => Promise<void>;
  /** Stops all processes as an operator does. Rejects if one of them failed. */
  readonly stop: () => Promise<void>;
  /** The database, opened as its owner. */
  readonly openStore: () => Promise<Store>;
  readonly output: () => string;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const processes = 3;
/** Fleets are started repeatedly for hours, on a machine with other load. */
const readyWithinMs = 300_000;
const environment = { WEIR_LOG_LEVEL: 'warn', WEIR_PROOF_KEY: 'ab'.repeat(32) };

async function stopWell(weir: RunningWeir): Promise<void> {
  const code = await weir.stop('SIGTERM');
  if (code !== 0) throw new Error(`a gateway ended with ${String(code)}: ${weir.output()}`);
}

/** A primary with three workers on a file: one of three kills hits the primary. */
function startOnSqlite(folder: string, config: object): Fleet {
  const dataDirectory = join(folder, 'data');
  mkdirSync(dataDirectory, { mode: 0o700 });
  const text = JSON.stringify({ ...config, timeouts: { drainDelayMs: 0, drainMs: 8000 } });
  let weir: RunningWeir | undefined;
  let printed = '';
  const start = async (): Promise<void> => {
    const commandArguments = ['--workers', String(processes)];
    weir = await startWeir({ dataDirectory, config: text, command: 'gateway', commandArguments, environment, readyWithinMs });
  };
  const keepOutput = (): void => void (printed += weir?.output() ?? '');
  return {
    start,
    urlFor: () => weir?.gatewayUrl ?? '',
    apiKey: () => weir?.apiKey ?? '',
    kill: async (number, random) => {
      if (number % 3 === 2) {
        await weir?.stop('SIGKILL');
        keepOutput();
        return start();
      }
      const pids = workerPids(weir?.process.pid ?? 0);
      const pid = pids[Math.floor(random() * pids.length)];
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    },
    stop: async () => {
      const end = async (): Promise<void> => {
        if (weir !== undefined) await stopWell(weir);
        keepOutput();
      };
      await end();
      // A worker that was killed may not be running again yet: the next start settles its journal and its leases.
      await start();
      await end();
    },
    openStore: () => openSqliteStore({ path: join(dataDirectory, 'weir.sqlite') }),
    output: () => printed,
    [Symbol.asyncDispose]: async () => weir?.[Symbol.asyncDispose](),
  };
}

/** Three gateways with separate directories on one server: one of four kills also hits the server. */
async function startOnPostgres(folder: string, config: object): Promise<Fleet> {
  const server = await startPostgres();
  // The owner creates the schema by opening it.
  await (await openPostgresStore({ url: server.url() })).close();
  await server.query(
    describeRoles({ gateway: 'weir_gateway', operator: 'weir_operator', monitor: 'weir_monitor', console: 'weir_console' }),
  );
  const database = { url: server.url('weir', 'weir_gateway'), monitorUrl: server.url('weir', 'weir_monitor'), poolSize: 4 };
  const text = JSON.stringify({ ...config, database });
  const gateways: RunningWeir[] = [];
  let printed = '';
  const startOne = async (index: number): Promise<void> => {
    const dataDirectory = join(folder, `data-${index}`);
    mkdirSync(dataDirectory, { mode: 0o700, recursive: true });
    gateways[index] = await startWeir({ dataDirectory, config: text, command: 'gateway', environment, readyWithinMs });
  };
  const keepOutput = (index: number): void => void (printed += gateways[index]?.output() ?? '');
  return {
    start: async () => {
      for (let index = 0; index < processes; index += 1) await startOne(index);
    },
    urlFor: (number) => gateways[number % processes]?.gatewayUrl ?? '',
    apiKey: () => gateways[0]?.apiKey ?? '',
    kill: async (number, random) => {
      const index = Math.floor(random() * processes);
      if (number % 4 === 3) server.signal('SIGKILL');
      await gateways[index]?.stop('SIGKILL');
      keepOutput(index);
      if (number % 4 === 3) await server.restart();
      await startOne(index);
    },
    stop: async () => {
      await Promise.all(gateways.map(stopWell));
      gateways.forEach((_, index) => keepOutput(index));
    },
    openStore: () => openPostgresStore({ url: server.url() }),
    output: () => printed,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()));
      await server.close();
    },
  };
}

/** Makes a fleet in a temporary folder. Nothing runs until `start`. */
export async function createFleet(engine: Engine, config: object): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-audit-'));
  const fleet = engine === 'sqlite' ? startOnSqlite(folder, config) : await startOnPostgres(folder, config);
  return {
    ...fleet,
    [Symbol.asyncDispose]: async () => {
      await fleet[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
