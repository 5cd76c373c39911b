import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { auditBooks, type ClientView, compareStatistics } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { createRandom, LiveReplies, makeCall, type modeOf, simulatedUpstreams } from './load.ts';

const tokensPerSecond = 300;

type Addresses = Parameters<typeof simulatedUpstreams>[0];

export type KillOptions = {
  readonly kills: number;
  readonly seed: number;
  readonly clients: number;
  /** The content of weir.yaml besides the simulated vendors. */
  readonly config?: (addresses: Addresses) => { readonly upstreams?: object; readonly models?: object };
  /** The interface, model and form of the n-th call. */
  readonly modeOf: (number: number) => ReturnType<typeof modeOf>;
};

/**
 * Kills a gateway under load repeatedly, and compares its books with the simulator's responses and the clients'
 * observations: every answered call is booked once, and no call is charged too much. Returns the entries.
 */
export async function killUnderLoad(context: TestContext, options: KillOptions): Promise<readonly CallEntry[]> {
  const { kills } = options;
  const random = createRandom(options.seed);
  const directory = mkdtempSync(join(tmpdir(), 'weir-kill-'));
  const simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), {
    pace: `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`,
  });
  const dataDirectory = join(directory, 'data');
  const more = options.config?.(simulator.addresses) ?? {};
  const config = JSON.stringify({ ...more, upstreams: { ...simulatedUpstreams(simulator.addresses), ...more.upstreams } });
  const start = (): Promise<RunningWeir> => startWeir({ dataDirectory, config });
  const views: ClientView[] = [];
  const replies = new LiveReplies();
  let weir: RunningWeir | undefined;
  let stopped = false;
  let number = 0;
  const client = async (): Promise<void> => {
    while (!stopped) {
      number += 1;
      const call = {
        ...options.modeOf(number),
        number,
        steer: { 'output-tokens': String(20 + Math.floor(random() * 250)) },
        ...(random() < 0.15 ? { leaveAfterMs: random() * 400 } : {}),
      };
      const made = replies.follow((onData) => makeCall(weir?.gatewayUrl ?? '', weir?.apiKey ?? '', { ...call, onData }));
      const { text: _, ...view } = await made;
      views.push(view);
      // A dead gateway refuses at once; a client that retries without a pause would only use processor time.
      if (view.status === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  try {
    mkdirSync(dataDirectory, { mode: 0o700 });
    weir = await start();
    const running = Array.from({ length: options.clients }, client);
    const output: string[] = [];
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 80 + random() * 500));
      if (kill % 2 === 0) await replies.untilNoted();
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
    const judge = (rows: readonly CallEntry[]) => auditBooks({ entries: rows, truths: simulator.truths(), clients: views });
    const entries = await readEntries(dataDirectory, (rows) => judge(rows).problems.length === 0);
    const audit = judge(entries);
    const shortfalls = audit.shortfalls.toSorted((left, right) => left - right);
    context.diagnostic(
      `${JSON.stringify(audit.counts)}; tokens short per lost stream: p50 ${shortfalls[Math.floor(shortfalls.length / 2)]}, max ${shortfalls.at(-1)}; ${audit.witnessed} whose client knows the least charge`,
    );
    assert.deepEqual(audit.problems, []);
    assert.ok(audit.witnessed > 0, 'the kills hit streams with progress to record');
    const { monitorUrl, billingToken } = weir;
    // Calls that never reached the upstream also have rows, which may come later.
    const ledger = await openLedger(dataDirectory);
    const differences = async () => compareStatistics(monitorUrl, billingToken, await ledger.all());
    await eventually(differences, ({ length }) => length === 0);
    await ledger.close();
    assert.ok((audit.counts['lost'] ?? 0) > kills, 'the kills hit calls');
    assert.ok((audit.counts['complete'] ?? 0) > kills);
    for (const text of [...output, weir.output()]) assert.doesNotMatch(text, /unhandled|uncaught|TypeError|RangeError|"quarantined":\["/i);
    assert.equal(await weir.stop('SIGTERM'), 0);
    const kept = readdirSync(join(dataDirectory, 'journal'));
    assert.ok(kept.length <= 4, `the journal deletes the entries that the ledger has: ${kept.join(', ')}`);
    return entries;
  } finally {
    stopped = true;
    await weir?.[Symbol.asyncDispose]();
    await simulator[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Entries that a client depends on are written before its last bytes are sent; the ledger follows within the shipping
 * interval. The audit reports rows that are never correct.
 */
async function readEntries(dataDirectory: string, isRight: (rows: readonly CallEntry[]) => boolean): Promise<readonly CallEntry[]> {
  const ledger = await openLedger(dataDirectory);
  const entries = await eventually(ledger.all, isRight).catch(ledger.all);
  await ledger.close();
  return entries;
}
