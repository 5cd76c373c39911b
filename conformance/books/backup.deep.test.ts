import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';

import { changeAt } from '../../src/audit/testing/test-change.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { runCommand } from '../programs/run-command.ts';
import type { ClientView } from '../support/audit.ts';
import { compareStatistics } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { readLedger } from '../support/read-ledger.ts';
import { usualOrLong } from '../support/scale.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { removal, type RunningWeir, startWeir } from '../support/start-weir.ts';
import { createRandom, makeCall, modeOf, simulatedUpstreams } from './load.ts';

const moments = Number(process.env['WEIR_BACKUP_MOMENTS'] ?? usualOrLong(2, 20));
const seed = Number(process.env['WEIR_BACKUP_SEED'] ?? 7);
const clients = 8;
const paidNanoUsd = 50_000_000_000n;
const password = 'a password of a backup';

type Manifest = {
  readonly moment: { readonly complete_until: string; readonly nothing_after: string };
  readonly database: { readonly calls: number };
  readonly journals: { readonly not_in_database: number };
  readonly key: { readonly state: string };
};

/** A call as its client saw it, by the clock that the backup used too. */
type TimedView = ClientView & { readonly beganAtMs: number; readonly endedAtMs: number };

/** What differs between the engines. */
type Engine = {
  readonly config: object;
  readonly open: (dataDirectory: string) => ReturnType<typeof openSqliteStore>;
  /** Loses the database, and makes an empty one. */
  readonly lose: () => Promise<void>;
};

const sqlite = (): Engine => ({
  config: {},
  open: (dataDirectory) => openSqliteStore({ path: join(dataDirectory, 'weir.sqlite') }),
  lose: () => Promise.resolve(),
});

const postgres = (server: PostgresServer): Engine => ({
  config: { database: { url: server.url(), poolSize: 4 } },
  open: () => openPostgresStore({ url: server.url(), poolMax: 2 }),
  lose: async () => {
    await server.query('drop database weir with (force)', { database: 'postgres' });
    await server.createDatabase('weir');
  },
});

/** A gateway that is backed up and lost at random moments under load, and continues with what was restored. */
async function loseAndRestore(context: TestContext, engine: Engine): Promise<void> {
  const random = createRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), 'weir-backup-'));
  const dataDirectory = join(directory, 'data');
  await using simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), { pace: 'tokensPerSecond=400;tokensPerFrame=8' });
  const config = join(directory, 'weir.yaml');
  const text = { ...engine.config, upstreams: simulatedUpstreams(simulator.addresses), overload: neverOverloaded };
  writeFileSync(config, JSON.stringify(text));
  const environment = {
    WEIR_CONFIG: config,
    WEIR_DATA_DIR: dataDirectory,
    WEIR_BACKUP_PASSWORD: password,
    PATH: process.env['PATH'] ?? '',
  };
  const start = (): Promise<RunningWeir> => startWeir({ dataDirectory, environment: { WEIR_CONFIG: config } });
  let weir: RunningWeir | undefined;
  try {
    mkdirSync(dataDirectory, { mode: 0o700 });
    weir = await start();
    await payInAdvance(engine, dataDirectory);
    let number = 0;
    for (let moment = 1; moment <= moments; moment += 1) {
      const views: TimedView[] = [];
      let stopped = false;
      const { gatewayUrl, apiKey } = weir;
      const client = async (): Promise<void> => {
        while (!stopped) {
          number += 1;
          const steer = { 'output-tokens': String(10 + Math.floor(random() * 150)) };
          const beganAtMs = Date.now();
          const view = await makeCall(gatewayUrl, apiKey, { ...modeOf(number), number, steer });
          views.push({ ...view, beganAtMs, endedAtMs: Date.now() });
        }
      };
      const running = Array.from({ length: clients }, client);
      const answered = (): number => views.filter(({ complete }) => complete).length;
      const untilAnswered = (more: number): Promise<number> => {
        const enough = answered() + more;
        return eventually(answered, (calls) => calls >= enough, 60_000);
      };
      await untilAnswered(10 + Math.floor(random() * 60));
      const target = join(directory, `backup-${moment}${moment % 2 === 0 ? '.tar.gz' : ''}`);
      const backup = await runCommand(['backup', target], environment);
      assert.equal(backup.code, 0, backup.stderr);
      // Eight calls may have begun before its end.
      await untilAnswered(10 + Math.floor(random() * 20));
      stopped = true;
      await weir.stop('SIGKILL');
      await Promise.all(running);
      rmSync(dataDirectory, removal);
      await engine.lose();

      const restored = await runCommand(['restore', target], environment);
      assert.equal(restored.code, 0, restored.stderr);
      assert.match(restored.stdout, /the books add up: \d+ rows verified/);
      const manifest = await readManifest(target, directory);
      assert.equal(manifest.key.state, 'sealed');
      assert.ok(restored.stdout.includes(manifest.moment.complete_until), 'the restore says which moment it has restored');
      weir = await start();
      await assertMoment({ context, engine, dataDirectory, manifest, views, weir });
    }
    assert.equal(await weir.stop('SIGTERM'), 0);
  } finally {
    await weir?.[Symbol.asyncDispose]();
    rmSync(directory, removal);
  }
}

async function payInAdvance(engine: Engine, dataDirectory: string): Promise<void> {
  const store = await engine.open(dataDirectory);
  const [key] = await store.listApiKeys();
  assert.ok(key);
  const owner = { level: 'user', userName: key.userName } as const;
  const payment = { transactionId: 'top_up:1', kind: 'top_up', against: 'deposits', actor: 'test', postedAtMs: 1 } as const;
  await store.postTransaction({ ...payment, owner, amountNanoUsd: paidNanoUsd }, changeAt());
  await store.changeUserLimits(key.userName, { prepaid: true }, changeAt());
  await store.close();
}

async function readManifest(target: string, directory: string): Promise<Manifest> {
  if (statSync(target).isDirectory()) return JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8'));
  const { execFileSync } = await import('node:child_process');
  return JSON.parse(execFileSync('tar', ['-xzOf', target, './manifest.json'], { cwd: directory, encoding: 'utf8' }));
}

/** The restored ledger has exactly the calls of the stated moment, and every sum agrees with it. */
async function assertMoment(options: {
  readonly context: TestContext;
  readonly engine: Engine;
  readonly dataDirectory: string;
  readonly manifest: Manifest;
  readonly views: readonly TimedView[];
  readonly weir: RunningWeir;
}): Promise<void> {
  const { context, engine, dataDirectory, manifest, views, weir } = options;
  const { complete_until: until, nothing_after: after } = manifest.moment;
  const ledger = readLedger(await engine.open(dataDirectory));
  try {
    const expected = manifest.database.calls + manifest.journals.not_in_database;
    const entries = await eventually(ledger.all, ({ length }) => length >= expected);
    const booked = new Set(entries.map(({ callId }) => callId));
    assert.equal(booked.size, expected, 'the database and the journals of the backup have these calls, and no call twice');
    const answered = views.filter(({ status, complete, callId }) => status === 200 && complete && callId !== undefined);
    const lost = answered.filter(({ endedAtMs, callId }) => endedAtMs < Date.parse(until) && !booked.has(callId ?? ''));
    assert.deepEqual(lost, [], 'every call that had ended before the moment is there');
    const later = answered.filter(({ beganAtMs, callId }) => beganAtMs > Date.parse(after) && booked.has(callId ?? ''));
    assert.deepEqual(later, [], 'no call that began after the moment is there');
    const missing = answered.filter(({ callId }) => !booked.has(callId ?? '')).length;
    context.diagnostic(
      `${views.length} calls of this round: ${answered.length} answered, ${missing} missing, all of them after ${until}; ${manifest.journals.not_in_database} came from journals`,
    );
    assert.ok(missing > 0 && missing < answered.length, 'the moment is in the middle of the load');
    const differences = async () => compareStatistics(weir.monitorUrl, weir.billingToken, await ledger.all());
    await eventually(differences, ({ length }) => length === 0);
    const owner = { level: 'user', userName: entries[0]?.userName ?? '' } as const;
    const charged = entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);
    const [balance] = await ledger.store.readBalances({ owner, limit: 1 });
    assert.equal(balance?.balanceNanoUsd, paidNanoUsd - charged, 'the balance is what was paid minus all charges');
    const verified = await runCommand(['credits', 'verify'], {
      WEIR_DATA_DIR: dataDirectory,
      WEIR_CONFIG: join(dataDirectory, '../weir.yaml'),
    });
    assert.equal(verified.code, 0, verified.stderr);
  } finally {
    await ledger.close();
  }
}

describe('a backup under load, total loss, and a restore: exactly the calls after the stated moment are missing', () => {
  test('SQLite', (context) => loseAndRestore(context, sqlite()));

  test('PostgreSQL', { skip: skipPostgres }, async (context) => {
    const server = await startPostgres();
    try {
      await loseAndRestore(context, postgres(server));
    } finally {
      await server.close();
    }
  });
});
