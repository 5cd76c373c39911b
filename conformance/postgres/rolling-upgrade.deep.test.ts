import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { latestVersion } from '../../src/store/migrations/migrations.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { simulatedUpstreams } from '../books/load.ts';
import { runSteadyLoad } from '../books/steady-load.ts';
import { runCommand } from '../programs/run-command.ts';
import { auditBooks } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { readLedger } from '../support/read-ledger.ts';
import { startBalancer } from '../support/start-balancer.ts';
import { skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { program, removal, type RunningWeir, startWeir } from '../support/start-weir.ts';

const root = join(import.meta.dirname, '../..');
/** The last commit before migration 43, until there are releases with tags. */
const before = process.env['WEIR_UPGRADE_FROM'] ?? '98a76a62be22940ea95cb107c2e560a7df953087';
const callsPerSecond = Number(process.env['WEIR_ROLL_RATE'] ?? 10);

const git = (...words: string[]): Buffer =>
  execFileSync('git', ['-C', root, ...words], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

function hasCommit(commit: string): boolean {
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

const skip = hasCommit(before) ? skipPostgres : `this clone has no commit ${before}`;

/** Puts a tree of this repository into a folder and bundles it. Returns its program. */
function makeTree(directory: string, commit: string, change?: (tree: string) => void): string {
  mkdirSync(directory);
  execFileSync('tar', ['-x', '-C', directory], { input: git('archive', commit) });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  change?.(directory);
  execFileSync(process.execPath, ['build/make-bundle.js'], { cwd: directory, stdio: 'pipe' });
  return join(directory, 'weir.js');
}

/** A version to come, which expands the schema by all that a running version must bear. */
function expandSchema(tree: string): void {
  const path = join(tree, 'src/store/migrations/migrations.ts');
  const shared = [
    'alter table users add column cost_centre text',
    'alter table calls add column region text',
    'create table cost_centres (\\n    name text not null primary key\\n  )',
    'create index calls_by_key_name on calls (key_name)',
  ];
  const migration = `  { version: ${latestVersion + 1}, name: 'a-version-to-come', shared: ['${shared.join("', '")}'], sqlite: [], postgres: [] },`;
  const text = readFileSync(path, 'utf8');
  const changed = text.replace(/\n\];\n/, `\n${migration}\n];\n`);
  assert.notEqual(changed, text);
  writeFileSync(path, changed);
}

test(
  'three gateways on one PostgreSQL go to the next version, to one after it, and back, one by one: no call fails',
  { skip },
  async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'weir-upgrade-'));
    const server = await startPostgres();
    const gateways: RunningWeir[] = [];
    try {
      const old = makeTree(join(directory, 'old'), before);
      const next = makeTree(join(directory, 'next'), 'HEAD', expandSchema);
      await using simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'));
      const config = JSON.stringify({
        database: { url: server.url(), poolSize: 4 },
        upstreams: simulatedUpstreams(simulator.addresses),
        timeouts: { drainDelayMs: 1000 },
        overload: neverOverloaded,
      });
      const start = (index: number, version: string, port = '0'): Promise<RunningWeir> => {
        const dataDirectory = join(directory, `data-${index}`);
        mkdirSync(dataDirectory, { recursive: true });
        const environment = { WEIR_PORT: port, WEIR_PROOF_KEY: 'ab'.repeat(32) };
        return startWeir({ dataDirectory, config, command: 'gateway', environment, program: version });
      };
      for (const index of [0, 1, 2]) gateways.push(await start(index, old));
      const schemaVersion = (): Promise<string> => server.query('select max(version) from schema_migrations');
      assert.ok(Number(await schemaVersion()) < latestVersion, 'the version before has an older schema');
      await using balancer = await startBalancer(gateways.map(({ gatewayUrl }) => gatewayUrl));
      const roll = async (version: string): Promise<void> => {
        for (const index of [0, 1, 2]) {
          const gateway = gateways[index];
          assert.ok(gateway);
          assert.equal(await gateway.stop('SIGTERM'), 0);
          gateways[index] = await start(index, version, new URL(gateway.gatewayUrl).port);
          await eventually(
            () => balancer.uses(gateway.gatewayUrl),
            (used) => used,
          );
        }
      };
      const views = await runSteadyLoad({
        gatewayUrl: balancer.url,
        apiKey: gateways[0]?.apiKey ?? '',
        callsPerSecond,
        during: async () => {
          await roll(program);
          assert.equal(await schemaVersion(), String(latestVersion));
          await roll(next);
          assert.equal(await schemaVersion(), String(latestVersion + 1));
          await roll(program);
        },
      });
      for (const gateway of gateways) assert.equal(await gateway.stop('SIGTERM'), 0);
      const failures = views.flatMap(({ failure, tag }) => (failure === undefined ? [] : [`${tag}: ${failure}`]));
      context.diagnostic(`${views.length} calls over three rolls of three gateways, ${failures.length} failed`);
      assert.deepEqual(failures, []);
      const ledger = readLedger(await openPostgresStore({ url: server.url() }));
      const entries = await ledger.all();
      await ledger.close();
      const audit = auditBooks({ entries, truths: simulator.truths(), clients: views, lostTokensMax: 0 });
      assert.deepEqual(audit.problems, []);
      assert.deepEqual([audit.counts['complete'], audit.counts['rows']], [views.length, views.length], 'no row is lost or doubled');

      const environment = { WEIR_CONFIG: join(directory, 'data-0/weir.yaml'), WEIR_DATA_DIR: join(directory, 'data-0') };
      const check = await runCommand(['upgrade', 'check'], environment);
      assert.equal(check.code, 0, check.stderr);
      assert.match(check.stdout, new RegExp(`it can use the database: ${latestVersion + 1} a-version-to-come only added to it`));
      await server.query(`update schema_migrations set name = 'contract:a-version-to-come' where version = ${latestVersion + 1}`);
      assert.equal((await runCommand(['upgrade', 'check'], environment)).code, 3);
      await assert.rejects(start(0, program), /A newer Weir has removed what this program needs/);
    } finally {
      for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
      await server.close();
      rmSync(directory, removal);
    }
  },
);
