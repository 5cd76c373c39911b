import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { Usage } from '../../src/inference/usage.ts';
import { plannedUsage, priceBound, type Truth } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { isDeep, isLong } from '../support/scale.ts';
import { startTranslationBench, type TranslationBench } from './bench.ts';
import { translationCases } from './cases/cases.ts';
import { translationClients } from './clients/clients.ts';
import { chooseRuns, createObservations, findContradictions, isSayable, matrixPage, replaceMatrix } from './matrix.ts';
import { type BookedCall, runCase } from './run-case.ts';

/** Every case for every client, at upstreams in turn (`chooseRuns`), whole and streamed, against a running gateway. */
const runs = Map.groupBy(chooseRuns(isDeep() ? 'deep' : 'usual'), ({ client, one }) => `${client.title} / ${one.section} / ${one.name}`);
let bench: TranslationBench;
const booked: BookedCall[] = [];
const observations = createObservations();

before(async () => {
  bench = await startTranslationBench();
});
after(() => bench[Symbol.asyncDispose]());

for (const client of translationClients) {
  describe(`a client of ${client.title}`, () => {
    for (const one of translationCases) {
      const skip = isSayable(client, one) ? false : 'this interface cannot express it';
      test(`${one.section}: ${one.name}`, { skip }, async () => {
        const problems: string[] = [];
        for (const { to, stream } of runs.get(`${client.title} / ${one.section} / ${one.name}`) ?? assert.fail('no run of it is chosen')) {
          try {
            const run = await runCase(bench, one, client, to, stream);
            booked.push(...run.booked);
            observations.note(client, to, one, run.outcome);
          } catch (error) {
            problems.push(`to ${to}, ${stream ? 'streamed' : 'whole'}: ${error instanceof Error ? error.message : String(error)}`);
          }
        }
        assert.equal(problems.length, 0, problems.join('\n'));
      });
    }
  });
}

/** The row has the tokens of the plan. Surcharges are not part of the plan, so the price is not compared with it. */
function saysTokens({ usage, estimated }: CallEntry, truth: Truth): boolean {
  const used = plannedUsage(truth);
  // Formats without a count of cache writes count them as plain input.
  const input = ({ inputTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 }: Usage): number =>
    inputTokens + cacheWrite5mTokens + cacheWrite1hTokens;
  const isSame = (name: 'cacheReadTokens' | 'outputTokens'): boolean => (usage[name] ?? 0) === (used[name] ?? 0);
  return !estimated && input(usage) === input(used) && isSame('cacheReadTokens') && isSame('outputTokens');
}

test('the books match the usage of the upstreams', async () => {
  const ledger = await openLedger(bench.weir.dataDirectory);
  try {
    const ids = new Set(booked.map(({ callId }) => callId));
    const rows = await eventually(
      async () => (await ledger.all()).filter(({ callId }) => ids.has(callId)),
      (found) => found.length === ids.size,
    );
    const byId = new Map(rows.map((row) => [row.callId, row]));
    const wrong = booked.filter(({ callId, truth, isExact }) => {
      const row = byId.get(callId);
      if (row === undefined || row.end !== 'finished') return true;
      return isExact ? !saysTokens(row, truth) : row.charge.amountNanoUsd > priceBound(row, truth);
    });
    assert.deepEqual(
      wrong.map(
        ({ label, callId, truth }) =>
          `${label}: ${byId.get(callId)?.end} ${JSON.stringify(byId.get(callId)?.usage)}, used ${JSON.stringify(truth.plannedUsage)}`,
      ),
      [],
    );
  } finally {
    await ledger.close();
  }
});

test('docs/reference/translation.md has the observed outcomes', () => {
  const page = readFileSync(matrixPage, 'utf8');
  assert.deepEqual(findContradictions(page, observations), [], 'run: node conformance/translation/write-matrix.ts');
  if (isLong) assert.equal(page, replaceMatrix(page, observations), 'run: node conformance/translation/write-matrix.ts');
});
