import { after, before } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { describeRoles } from '../../src/store/postgres/roles.ts';
import { simulatedUpstreams } from '../books/load.ts';
import { type Ledger, readLedger } from '../support/audit.ts';
import { type PostgresServer, startPostgres } from '../support/start-postgres.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir, type StartWeirOptions } from '../support/start-weir.ts';

/** A server with a database whose owner made the schema and the two roles, and simulated vendors. */
export type SharedParts = { readonly server: PostgresServer; readonly simulator: RunningSimulator };

/** What all gateways of one database have in common. */
const proofKey = 'ab'.repeat(32);

/** One server for the tests of a file. */
export function useSharedParts(settings: readonly string[] = []): () => SharedParts {
  let parts: SharedParts | undefined;
  before(async () => {
    const server = await startPostgres(settings);
    parts = { server, simulator: await startSimulator() };
    // Opening it as the owner makes the schema.
    await (await openPostgresStore({ url: server.url() })).close();
    await server.query(describeRoles({ gateway: 'weir_gateway', monitor: 'weir_monitor', operator: 'weir_operator' }));
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

/** A Weir with a data directory of its own on the shared database, with no more rights than it needs. */
export function startShared(
  { server, simulator }: SharedParts,
  { config, database, ...options }: Omit<StartWeirOptions, 'config'> & { readonly config?: object; readonly database?: object } = {},
): Promise<RunningWeir> {
  const url = server.url('weir', options.command === 'monitor' ? 'weir_monitor' : 'weir_gateway');
  const text = {
    overload: neverOverloaded,
    ...config,
    database: { url, monitorUrl: server.url('weir', 'weir_monitor'), poolSize: 4, ...database },
    upstreams: simulatedUpstreams(simulator.addresses),
    retries: { attemptsMax: 1, avoidFailing: false },
  };
  return startWeir({ ...options, config: JSON.stringify(text), environment: { WEIR_PROOF_KEY: proofKey, ...options.environment } });
}

/** The ledger as the monitor's role reads it. */
export async function openSharedLedger({ server }: SharedParts): Promise<Ledger> {
  return readLedger(await openPostgresStore({ url: server.url('weir', 'weir_monitor'), readOnly: true }));
}
