import { after, before } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { describeRoles } from '../../src/store/postgres/roles.ts';
import { simulatedUpstreams } from '../books/load.ts';
import { type Ledger, readLedger } from '../support/read-ledger.ts';
import { type PostgresServer, startPostgres } from '../support/start-postgres.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type RunningWeir, type ServedWeir, type ServeWeirOptions, startWeir, type StartWeirOptions } from '../support/start-weir.ts';

/** A server with a database whose owner created the schema and the two roles, and simulated vendors. */
export type SharedParts = { readonly server: PostgresServer; readonly simulator: RunningSimulator };

/** The settings that all gateways of one database share. */
const proofKey = 'ab'.repeat(32);

/** One server for the tests of a file. */
export function useSharedParts(settings: readonly string[] = []): () => SharedParts {
  let parts: SharedParts | undefined;
  before(async () => {
    const server = await startPostgres(settings);
    parts = { server, simulator: await startSimulator() };
    // The owner creates the schema by opening it.
    await (await openPostgresStore({ url: server.url() })).close();
    await server.query(
      describeRoles({ gateway: 'weir_gateway', monitor: 'weir_monitor', operator: 'weir_operator', console: 'weir_console' }),
    );
  });
  after(async () => {
    await parts?.simulator.close();
    await parts?.server.close();
  });
  return () => {
    if (parts === undefined) throw new Error('The server was not started.');
    return parts;
  };
}

type SharedOptions<Options> = Omit<Options, 'config'> & { readonly config?: object; readonly database?: object };

/** Starts a Weir in its own process, on the shared database and its own data directory, with the least rights. */
export function startShared(parts: SharedParts, options: SharedOptions<StartWeirOptions> = {}): Promise<RunningWeir> {
  return startWeir(prepareShared(parts, options));
}

/** Like {@link startShared}, but in this process. */
export function serveShared(parts: SharedParts, options: SharedOptions<ServeWeirOptions> = {}): Promise<ServedWeir> {
  return serveWeir(prepareShared(parts, options));
}

/** `start` has the rights of a gateway alone. */
const roleOf = { start: 'weir_gateway', gateway: 'weir_gateway', monitor: 'weir_monitor', console: 'weir_console' } as const;

function prepareShared<Options extends StartWeirOptions>(
  { server, simulator }: SharedParts,
  { config, database, ...options }: SharedOptions<Options>,
) {
  const url = server.url('weir', roleOf[options.command ?? 'start']);
  const text = {
    overload: neverOverloaded,
    ...config,
    database: { url, monitorUrl: server.url('weir', 'weir_monitor'), poolSize: 4, ...database },
    upstreams: simulatedUpstreams(simulator.addresses),
    retries: { attemptsMax: 1, avoidFailing: false },
  };
  return { ...options, config: JSON.stringify(text), environment: { WEIR_PROOF_KEY: proofKey, ...options.environment } };
}

/** The ledger as the monitor's role reads it. */
export async function openSharedLedger({ server }: SharedParts): Promise<Ledger> {
  return readLedger(await openPostgresStore({ url: server.url('weir', 'weir_monitor'), readOnly: true }));
}
