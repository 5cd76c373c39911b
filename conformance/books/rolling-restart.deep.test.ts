import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { auditBooks, type Truth } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { startBalancer } from '../support/start-balancer.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { workerPids } from '../support/worker-pids.ts';
import { simulatedUpstreams } from './load.ts';
import { runSteadyLoad, type SteadyView } from './steady-load.ts';

const callsPerSecond = Number(process.env['WEIR_ROLL_RATE'] ?? 40);
const rounds = Number(process.env['WEIR_ROLLS'] ?? 1);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function assertNothingFailed(
  context: TestContext,
  views: readonly SteadyView[],
  dataDirectories: readonly string[],
  truths: readonly Truth[],
): Promise<void> {
  const failures = views.flatMap(({ failure, tag }) => (failure === undefined ? [] : [`${tag}: ${failure}`]));
  context.diagnostic(`${views.length} calls, ${failures.length} failed`);
  assert.deepEqual(failures, []);
  const entries = await Promise.all(
    dataDirectories.map(async (directory) => {
      const ledger = await openLedger(directory);
      const all = await ledger.all();
      await ledger.close();
      return all;
    }),
  );
  const audit = auditBooks({ entries: entries.flat(), truths, clients: views, lostTokensMax: 0 });
  assert.deepEqual(audit.problems, []);
  assert.equal(audit.counts['complete'], views.length);
  assert.equal(audit.counts['rows'], views.length);
}

test('SIGUSR2 replaces every worker and no call fails', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-roll-'));
  await using simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'));
  const config = JSON.stringify({
    upstreams: simulatedUpstreams(simulator.addresses),
    timeouts: { drainDelayMs: 500 },
    overload: neverOverloaded,
  });
  const weir = await startWeir({
    dataDirectory: directory,
    config,
    command: 'gateway',
    commandArguments: ['--workers', '2'],
    environment: { WEIR_LOG_LEVEL: 'info' },
  });
  try {
    const views = await runSteadyLoad({
      gatewayUrl: weir.gatewayUrl,
      apiKey: weir.apiKey,
      callsPerSecond,
      during: async () => {
        for (let round = 1; round <= rounds; round++) {
          await pause(1000);
          const before = workerPids(weir.process.pid ?? 0);
          weir.process.kill('SIGUSR2');
          await eventually(
            () => weir.output().match(/worker replacement completed/g)?.length ?? 0,
            (times) => times === round,
            90_000,
          );
          assert.ok(workerPids(weir.process.pid ?? 0).filter((pid) => !before.includes(pid)).length >= 2);
        }
        await pause(1500);
      },
    });
    assert.equal(await weir.stop('SIGTERM'), 0);
    await assertNothingFailed(context, views, [directory], simulator.truths());
  } finally {
    await weir[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('two gateways behind a balancer, each restarted in turn: no call fails', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-roll-'));
  await using simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'));
  const config = JSON.stringify({
    upstreams: simulatedUpstreams(simulator.addresses),
    timeouts: { drainDelayMs: 1000 },
    overload: neverOverloaded,
  });
  const directories = [mkdtempSync(join(directory, 'one-')), mkdtempSync(join(directory, 'two-'))];
  const start = (index: number, port = '0'): Promise<RunningWeir> =>
    startWeir({ dataDirectory: directories[index] ?? '', config, command: 'gateway', environment: { WEIR_PORT: port } });
  const gateways = await Promise.all([start(0), start(1)]);
  await using balancer = await startBalancer(gateways.map(({ gatewayUrl }) => gatewayUrl));
  try {
    const views = await runSteadyLoad({
      gatewayUrl: balancer.url,
      apiKey: gateways[0].apiKey,
      callsPerSecond,
      during: async () => {
        for (let round = 0; round < rounds; round++) {
          for (const index of [0, 1]) {
            await pause(700);
            const old = gateways[index];
            assert.ok(old);
            assert.equal(await old.stop('SIGTERM'), 0);
            gateways[index] = await start(index, new URL(old.gatewayUrl).port);
            await eventually(
              () => balancer.uses(old.gatewayUrl),
              (used) => used,
            );
          }
        }
        await pause(700);
      },
    });
    for (const gateway of gateways) assert.equal(await gateway.stop('SIGTERM'), 0);
    await assertNothingFailed(context, views, directories, simulator.truths());
  } finally {
    for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
});
