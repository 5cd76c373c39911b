import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { auditBooks, type ClientView } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { usualOrLong } from '../support/scale.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { workerPids } from '../support/worker-pids.ts';
import { createRandom, LiveReplies, makeCall, modeOf, simulatedUpstreams } from './load.ts';

const kills = Number(process.env['WEIR_WORKER_KILLS'] ?? usualOrLong(4, 12));
const seed = Number(process.env['WEIR_SEED'] ?? 20_260_104);
const tokensPerSecond = 300;

/**
 * Every answered call has one row, whichever process was killed while it ran. Every third kill hits the primary, and
 * the next start has another number of workers.
 */
test(`workers and primaries killed ${kills} times under load (seed ${seed}): every answered call is booked once`, async (context) => {
  const random = createRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), 'weir-kill-workers-'));
  const dataDirectory = join(directory, 'data');
  mkdirSync(dataDirectory, { mode: 0o700 });
  const simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), {
    pace: `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`,
  });
  const config = JSON.stringify({ upstreams: simulatedUpstreams(simulator.addresses), timeouts: { drainDelayMs: 0, drainMs: 4000 } });
  const start = (workers: number): Promise<RunningWeir> =>
    startWeir({ dataDirectory, config, command: 'gateway', commandArguments: ['--workers', String(workers)] });
  const views: ClientView[] = [];
  const replies = new LiveReplies();
  const output: string[] = [];
  let weir = await start(2);
  let stopped = false;
  let number = 0;
  const client = async (): Promise<void> => {
    while (!stopped) {
      number += 1;
      const steer = { 'output-tokens': String(20 + Math.floor(random() * 250)) };
      const leave = random() < 0.15 ? { leaveAfterMs: random() * 400 } : {};
      const call = { ...modeOf(number), number, steer, ...leave };
      const { text: _, ...view } = await replies.follow((onData) => makeCall(weir.gatewayUrl, weir.apiKey, { ...call, onData }));
      views.push(view);
      if (view.status === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  try {
    const running = Array.from({ length: 12 }, client);
    for (let kill = 1; kill <= kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 80 + random() * 500));
      if (kill % 2 === 0) await replies.untilNoted();
      if (kill % 3 === 0) {
        await weir.stop('SIGKILL');
        output.push(weir.output());
        weir = await start(1 + (kill % 2));
        continue;
      }
      const pids = workerPids(weir.process.pid ?? 0);
      const pid = pids[Math.floor(random() * pids.length)];
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    stopped = true;
    await Promise.all(running);
    assert.equal(await weir.stop('SIGTERM'), 0);
    // As a single process, without help: it finds the workers' journals.
    weir = await startWeir({ dataDirectory, config, command: 'gateway' });
    const slots = () => readdirSync(dataDirectory).filter((name) => name.startsWith('journal-'));
    await eventually(slots, (left) => left.length === 0, 60_000);
    await eventually(
      () => simulator.truths().filter(({ ending }) => ending === 'open').length,
      (open) => open === 0,
    );
    const ledger = await openLedger(dataDirectory);
    const judge = async () => auditBooks({ entries: await ledger.all(), truths: simulator.truths(), clients: views });
    // The journal of the first slot is shipped a moment after the start.
    const audit = await eventually(judge, ({ problems }) => problems.length === 0).catch(judge);
    await ledger.close();
    context.diagnostic(`${JSON.stringify(audit.counts)}; ${audit.witnessed} lost streams whose client knows the least charge`);
    assert.deepEqual(audit.problems, []);
    assert.ok(audit.witnessed > 0, 'the kills hit streams with progress to record');
    assert.ok((audit.counts['lost'] ?? 0) > 0, 'the kills hit calls');
    for (const text of [...output, weir.output()]) assert.doesNotMatch(text, /unhandled|uncaught|TypeError|RangeError|"quarantined":\["/i);
  } finally {
    stopped = true;
    await weir[Symbol.asyncDispose]();
    await simulator[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
});
