import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createRandom, makeCall, simulatedUpstreams } from '../books/load.ts';
import { auditBooks, type ClientView, compareStatistics, openLedger } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { translatedModel, translating, translations } from './translated-models.ts';

const kills = Number(process.env['WEIR_KILLS'] ?? 5);
const clients = 8;
const tokensPerSecond = 300;
/** What half a second of a stream emits. */
const lostTokensMax = tokensPerSecond / 2 + 16;

test(`killed ${kills} times under a load of translated calls: every answered call is booked once, and nobody pays too much`, async (context) => {
  const random = createRandom(20_261_121);
  const directory = mkdtempSync(join(tmpdir(), 'weir-kill-'));
  const simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), {
    pace: `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`,
  });
  const dataDirectory = join(directory, 'data');
  const upstreams = { ...simulatedUpstreams(simulator.addresses), ...translating.upstreams?.(simulator.addresses) };
  const config = JSON.stringify({ upstreams, models: translating.models });
  const start = (): Promise<RunningWeir> => startWeir({ dataDirectory, config });
  const views: ClientView[] = [];
  let weir: RunningWeir | undefined;
  let stopped = false;
  let number = 0;
  const client = async (): Promise<void> => {
    while (!stopped) {
      number += 1;
      const { mode, to } = translations[number % translations.length] ?? translations[0] ?? assert.fail();
      const { text: _, ...view } = await makeCall(weir?.gatewayUrl ?? '', weir?.apiKey ?? '', {
        api: { ...mode.api, model: translatedModel(to) },
        stream: mode.stream,
        number,
        steer: { 'output-tokens': String(20 + Math.floor(random() * 250)) },
        ...(random() < 0.15 ? { leaveAfterMs: random() * 400 } : {}),
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
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 400));
      await weir.stop('SIGKILL');
      output.push(weir.output());
      weir = await start();
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    stopped = true;
    await Promise.all(running);
    await eventually(
      () => simulator.truths().filter((truth) => truth.ending === 'open').length,
      (open) => open === 0,
    );
    const ledger = await openLedger(dataDirectory);
    const reached = simulator.truths().length;
    // A row that never comes is for the audit to tell.
    await eventually(
      async () => (await ledger.all()).length,
      (count) => count >= reached,
      3000,
    ).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const entries = await ledger.all();
    const audit = auditBooks({ entries, truths: simulator.truths(), clients: views, lostTokensMax });
    context.diagnostic(JSON.stringify(audit.counts));
    assert.deepEqual(audit.problems, []);
    assert.deepEqual(await compareStatistics(weir.monitorUrl, weir.billingToken, entries), []);
    assert.ok((audit.counts['lost'] ?? 0) > kills, 'the kills struck calls');
    assert.ok((audit.counts['complete'] ?? 0) > kills);
    assert.ok(entries.some(({ translation }) => translation !== undefined));
    for (const text of [...output, weir.output()]) assert.doesNotMatch(text, /unhandled|uncaught|TypeError|RangeError|"quarantined":\["/i);
    await ledger.close();
    assert.equal(await weir.stop('SIGTERM'), 0);
  } finally {
    stopped = true;
    await weir?.[Symbol.asyncDispose]();
    await simulator[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
});
