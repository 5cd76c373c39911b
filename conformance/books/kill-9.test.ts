import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { auditBooks, type ClientView, compareStatistics, openLedger } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { createRandom, makeCall, modeOf, simulatedUpstreams } from './load.ts';

const kills = Number(process.env['WEIR_KILLS'] ?? 12);
const seed = Number(process.env['WEIR_SEED'] ?? 20_260_103);
const clients = 12;
const tokensPerSecond = 300;
/** What half a second of a stream emits. */
const lostTokensMax = tokensPerSecond / 2 + 16;

test(`killed ${kills} times under load (seed ${seed}): every answered call is booked once, and nobody pays too much`, async (context) => {
  const random = createRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), 'weir-kill-'));
  const simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), {
    pace: `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`,
  });
  const dataDirectory = join(directory, 'data');
  const start = (): Promise<RunningWeir> =>
    startWeir({ dataDirectory, config: JSON.stringify({ upstreams: simulatedUpstreams(simulator.addresses) }) });
  const views: ClientView[] = [];
  let weir: RunningWeir | undefined;
  let stopped = false;
  let number = 0;
  const client = async (): Promise<void> => {
    while (!stopped) {
      number += 1;
      const steer = { 'output-tokens': String(20 + Math.floor(random() * 250)) };
      const leaves = random() < 0.15 ? { leaveAfterMs: random() * 400 } : {};
      const { text: _, ...view } = await makeCall(weir?.gatewayUrl ?? '', weir?.apiKey ?? '', {
        ...modeOf(number),
        number,
        steer,
        ...leaves,
      });
      views.push(view);
      // A dead gateway refuses at once; a client that hammers it would only heat the machine.
      if (view.status === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  try {
    mkdirSync(dataDirectory, { mode: 0o700 });
    weir = await start();
    const running = Array.from({ length: clients }, client);
    const output: string[] = [];
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 80 + random() * 500));
      await weir.stop('SIGKILL');
      output.push(weir.output());
      weir = await start();
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    stopped = true;
    await Promise.all(running);
    await eventually(
      () => simulator.truths().filter((truth) => truth.ending === 'open').length,
      (open) => open === 0,
    );
    const ledger = await openLedger(dataDirectory);
    // What a client waits for is written before its last bytes go out; the ledger follows within the shipping interval.
    const rows = async (): Promise<number> => (await ledger.all()).length;
    const reached = simulator.truths().length;
    // A row that never comes is for the audit to tell.
    await eventually(rows, (count) => count >= reached, 3000).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const entries = await ledger.all();
    const audit = auditBooks({ entries, truths: simulator.truths(), clients: views, lostTokensMax });
    const shortfalls = audit.shortfalls.toSorted((left, right) => left - right);
    context.diagnostic(
      `${JSON.stringify(audit.counts)}; tokens short per lost stream: p50 ${shortfalls[Math.floor(shortfalls.length / 2)]}, max ${shortfalls.at(-1)}`,
    );
    assert.deepEqual(audit.problems, []);
    assert.deepEqual(await compareStatistics(weir.monitorUrl, weir.billingToken, entries), []);
    assert.ok((audit.counts['lost'] ?? 0) > kills, 'the kills struck calls');
    assert.ok((audit.counts['complete'] ?? 0) > kills);
    for (const text of [...output, weir.output()]) assert.doesNotMatch(text, /unhandled|uncaught|TypeError|RangeError|"quarantined":\["/i);
    await ledger.close();
    assert.equal(await weir.stop('SIGTERM'), 0);
    const kept = readdirSync(join(dataDirectory, 'journal'));
    assert.ok(kept.length <= 4, `what is in the ledger is given up by the journal: ${kept.join(', ')}`);
  } finally {
    stopped = true;
    await weir?.[Symbol.asyncDispose]();
    await simulator[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
});
