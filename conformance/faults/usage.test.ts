import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { plannedUsage, priceBound, priceOf } from '../support/audit.ts';
import { allModes, type FaultBench, type Mode, modesInTurn, startFaultBench } from './fault-bench.ts';

const members: Readonly<Record<string, readonly string[]>> = {
  'anthropic-messages': ['input_tokens', 'output_tokens'],
  'openai-responses': ['input_tokens', 'output_tokens'],
  'openai-chat': ['prompt_tokens', 'completion_tokens'],
  'gemini-generate-content': ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
};

/**
 * False or missing usage reports: the reply is passed on unchanged, and the row distinguishes exact counts from
 * estimates.
 */
describe('usage that cannot be accepted', { concurrency: 4 }, () => {
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  const replaced = (mode: Mode, value: string): string =>
    JSON.stringify(Object.fromEntries((members[mode.api.dialect] ?? []).map((member) => [member, value])));

  for (const mode of allModes) {
    for (const [at, usage] of (['absent', 'null', 'string', 'negative', 'huge'] as const).entries()) {
      if (!modesInTurn(allModes, at).includes(mode)) continue;
      test(`${mode.title}: ${usage}: the reply is complete, the counts are estimates near the truth`, async () => {
        const value = usage === 'absent' || usage === 'null' ? usage : replaced(mode, usage);
        const reply = await bench.send(mode, {
          steer: { usage: value, 'output-tokens': '80' },
          text: 'A prompt of some length. '.repeat(40),
        });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.end, 'complete');
        const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
        assert.equal(entry.end, 'finished');
        // Counts may be decimal strings in proto JSON, so there a string is an exact report.
        const isExact = usage === 'string' && mode.api.dialect === 'gemini-generate-content';
        assert.equal(entry.estimated, !isExact);
        assert.ok(entry.charge.amountNanoUsd > 0n, 'a malformed report does not make a reply free');
        assert.ok(
          entry.charge.amountNanoUsd <= priceBound(entry, truth),
          `${JSON.stringify(entry.usage)} for ${JSON.stringify(truth.plannedUsage)}`,
        );
        const shown = (truth.plannedUsage?.outputTokens ?? 0) - (truth.plannedUsage?.reasoningTokens ?? 0);
        assert.ok((entry.usage.outputTokens ?? 0) >= shown - 2, `${entry.usage.outputTokens} of ${shown}`);
        assert.ok((entry.usage.inputTokens ?? 0) >= (truth.plannedUsage?.inputTokens ?? 0) - 2);
      });
    }

    test(`F23, ${mode.title}: a reported zero stays zero and is not an estimate`, async () => {
      const reply = await bench.send(mode, { steer: { usage: replaced(mode, 'zero') } });
      const entry = await bench.rowOf(reply);
      assert.equal(entry.end, 'finished');
      assert.equal(entry.estimated, false);
      assert.equal(entry.usage.inputTokens, 0);
      assert.equal(entry.usage.outputTokens, 0);
      assert.equal(entry.charge.amountNanoUsd, 0n);
    });

    test(`${mode.title}: a correct report is booked to the last nano-dollar`, async () => {
      const reply = await bench.send(mode, { steer: { 'output-tokens': '777' } });
      const [entry, truth] = [await bench.rowOf(reply), await bench.truthOf(reply.tag)];
      assert.equal(entry.estimated, false);
      assert.equal(entry.charge.amountNanoUsd, priceOf(entry, plannedUsage(truth)));
    });

    test(`${mode.title}: an empty reply is an answer`, async () => {
      const reply = await bench.send(mode, { steer: { text: '' } });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.end, 'complete');
      const entry = await bench.rowOf(reply);
      assert.equal(entry.end, 'finished');
      assert.equal(entry.estimated, false);
    });
  }

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
