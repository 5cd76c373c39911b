import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { estimateTokens } from '../../src/inference/count-text-characters.ts';
import { isExact, plannedUsage, priceBound } from '../support/audit.ts';
import { eventually } from '../support/http.ts';
import { cleanEnvironment, program } from '../support/start-weir.ts';
import { type FaultBench, type Mode, startFaultBench, streamModes, wholeModes } from './fault-bench.ts';

const run = promisify(execFile);
const pace = { pace: 'tokensPerSecond=400;tokensPerFrame=4', 'output-tokens': '240' };
const shown = (text: string): number => text.split(/"(?:text|content|delta)"\s*:\s*"/).length;
const policies = ['abort', 'drain', 'deliver'] as const;

/** M8: what is done with a call whose client leaves is the key's choice, and its row says what was done. */
describe('M8: the client leaves, by the policy of its key', { concurrency: 8 }, () => {
  let bench: FaultBench;
  const keys: Record<string, string> = {};
  before(async () => {
    bench = await startFaultBench();
    const env = cleanEnvironment({ WEIR_DATA_DIR: bench.weir.dataDirectory });
    const create = async (policy: string): Promise<void> => {
      const made = ['keys', 'create', '--user', 'leaver', '--name', policy, '--disconnect', policy];
      keys[policy] = (await run(process.execPath, [program, ...made], { env })).stdout.trim();
    };
    await Promise.all(policies.map(create));
    // The gateway takes new keys up within a second or two.
    await eventually(
      () =>
        Promise.all(
          policies.map(async (policy) => (await bench.send(modeOf(0), { headers: { authorization: `Bearer ${keys[policy]}` } })).status),
        ),
      (statuses) => statuses.every((status) => status === 200),
    );
  });
  after(() => bench[Symbol.asyncDispose]());

  function modeOf(index: number): Mode {
    const mode = streamModes[index];
    assert.ok(mode);
    return mode;
  }
  const open = (mode: Mode, policy: (typeof policies)[number], steer: Readonly<Record<string, string>>, text?: string) =>
    bench.open(mode, { steer, headers: { authorization: `Bearer ${keys[policy]}` }, ...(text === undefined ? {} : { text }) });

  function assertEvidence({ disconnect, durationMs }: CallEntry, policy: string, usageReported: boolean): void {
    assert.ok(disconnect);
    assert.deepEqual([disconnect.policy, disconnect.usageReported], [policy, usageReported]);
    assert.ok(disconnect.leftAfterMs <= disconnect.upstreamEndedAfterMs && disconnect.upstreamEndedAfterMs <= durationMs);
  }

  for (const mode of streamModes) {
    test(`F21, ${mode.title}: drain charges exactly what the upstream reports in the end`, async () => {
      const { tag, call } = open(mode, 'drain', pace);
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      call.leave('rst');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(truth.ending, 'completed');
      assert.equal(entry.end, 'client-left');
      assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
      assertEvidence(entry, 'drain', true);
    });

    test(`F29, ${mode.title}: drop just before the usage event, with drain`, async () => {
      const { tag, call } = open(mode, 'drain', { ...pace, pace: 'tokensPerSecond=2000;tokensPerFrame=4' });
      await call.until((text) => shown(text) > 45);
      const head = await call.head;
      call.leave('fin');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
    });

    test(`F28, ${mode.title}: drain of an upstream that breaks is charged as abort is`, async () => {
      const { tag, call } = open(mode, 'drain', { ...pace, fault: 'reset-mid-stream;after=50' });
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      call.leave('rst');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(entry.end, 'client-left');
      assert.equal(entry.errorCode, undefined);
      assert.ok(entry.charge.amountNanoUsd > 0n && entry.charge.amountNanoUsd <= priceBound(entry, truth));
      assertEvidence(entry, 'drain', false);
    });

    test(`${mode.title}: deliver stops the upstream and charges no more than was delivered`, async () => {
      const { tag, call } = open(mode, 'deliver', pace);
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      const leftAtMs = Date.now();
      call.leave('fin');
      const [entry, truth] = [await bench.rowOf(head), await bench.truthOf(tag)];
      assert.equal(truth.ending, 'client-closed');
      assert.ok((truth.endedAtMs ?? 0) - leftAtMs <= 200);
      assertEvidence(entry, 'deliver', false);
      assert.equal(entry.usage.outputTokens, estimateTokens(entry.disconnect?.deliveredCharacters ?? 0));
      assert.ok((entry.usage.outputTokens ?? 0) > 0);
      assert.equal(entry.usage.reasoningTokens, undefined);
    });

    test(`${mode.title}: abort says in its row what was done`, async () => {
      const { call } = open(mode, 'abort', pace);
      await call.until((text) => shown(text) > 8);
      const head = await call.head;
      call.leave('fin');
      assertEvidence(await bench.rowOf(head), 'abort', false);
    });
  }

  async function rowBySize(mode: Mode, characters: number): Promise<CallEntry> {
    const found = await eventually(
      async () => (await bench.ledger.all()).filter((row) => row.dialect === mode.api.dialect && near(row.inputCharacters, characters)),
      (rows) => rows.length === 1,
    );
    const [row] = found;
    assert.ok(row);
    return row;
  }
  const near = (count: number, characters: number): boolean => count >= characters && count < characters + 300;

  for (const [index, mode] of wholeModes.entries()) {
    test(`F21, ${mode.title}: drain reads a whole reply on, also one of which nothing had come`, async () => {
      const characters = 20_000 + index * 1000;
      const { tag, call } = open(mode, 'drain', { fault: 'stall-before-headers;ms=400' }, 'x'.repeat(characters));
      await eventually(
        () => bench.simulator.records().find((record) => record.tag === tag),
        (record) => record !== undefined,
      );
      call.leave('fin');
      const [entry, truth] = [await rowBySize(mode, characters), await bench.truthOf(tag)];
      assert.notEqual(truth.ending, 'client-closed');
      assert.equal(entry.end, 'client-left');
      assert.ok(isExact(entry, truth), JSON.stringify([entry.usage, plannedUsage(truth)]));
      assertEvidence(entry, 'drain', true);
    });
  }

  test('afterwards everything is as it should be', () => bench.assertSound());
});
