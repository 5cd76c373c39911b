import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import type { Usage } from '../../inference/usage.ts';
import type { Charge } from '../ledger/call-entry.ts';
import { settleDispute } from '../ledger/settle-dispute.ts';
import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { recomputeAmount } from '../rating/recompute-amount.ts';
import { countInput } from '../../inference/meters.ts';
import { type CallBound, disputeUsage } from './dispute-usage.ts';
import type { MeteredCall } from './meter-call.ts';

const priceBook = createPriceBook({ book: loadShippedPriceBook() });
const models = ['anthropic', 'openai', 'gemini', 'xai'].flatMap((vendor) => priceBook.models(vendor));
const acceptedAtMs = Date.UTC(2026, 10, 1);

function judge(model: { readonly vendor: string; readonly model: string }, usage: Usage, most: Usage, more: Partial<CallBound> = {}) {
  const call = { vendor: model.vendor, upstreamModel: model.model, requestedModel: model.model, acceptedAtMs };
  const rate = ({ usage: counts, serviceTier }: MeteredCall): Charge => priceBook.rate({ ...call, usage: counts, serviceTier });
  const metered: MeteredCall = { usage, rawUsage: {}, estimated: false };
  const bound: CallBound = { most, nanoUsd: priceBook.most({ ...call, most }), provesCounts: true, ...more };
  const report = { usage, raw: {}, trustworthy: true };
  return {
    ...disputeUsage({ metered, charge: rate(metered) }, { report, inputCharacters: 40, outputCharacters: 20 }, bound, rate),
    rate,
    bound,
  };
}

const gpt = { vendor: 'openai', model: 'gpt-4.1' };

describe('B9: an impossible figure', () => {
  test('a billion output tokens for a bound of 50 are charged by the delivered output, and named', () => {
    const { metered, charge, bound } = judge(gpt, { inputTokens: 10, outputTokens: 1_000_000_000 }, { inputTokens: 400, outputTokens: 50 });
    assert.deepEqual(metered.usage, { inputTokens: 10, outputTokens: 5 });
    assert.deepEqual(metered.disputed, {
      figures: [{ count: 'outputTokens', reason: 'beyond-bound', reported: 1_000_000_000, most: 50 }],
      reported: { inputTokens: 10, outputTokens: 1_000_000_000 },
    });
    assert.ok(metered.estimated && charge.amountNanoUsd <= bound.nanoUsd);
  });

  test('a count a little beyond its bound is charged as the bound: a broken upstream is not free', () => {
    const { metered } = judge(gpt, { inputTokens: 10, outputTokens: 51, reasoningTokens: 51 }, { inputTokens: 400, outputTokens: 50 });
    assert.deepEqual(metered.usage, { inputTokens: 10, outputTokens: 50, reasoningTokens: 50 });
    assert.equal(metered.disputed?.figures.length, 1);
  });

  test('the own preamble of a server before a short request is accepted, as long as the total is within the bound of the cost', () => {
    const usage = { inputTokens: 700, cacheReadTokens: 679, outputTokens: 9 };
    const { metered } = judge(gpt, usage, { inputTokens: 320, outputTokens: 4096 });
    assert.equal(metered.disputed, undefined);
    assert.equal(metered.usage, usage);
  });

  test('counts that together cost more than the call can are limited, and give no discount', () => {
    const { metered, charge, bound } = judge(
      gpt,
      { inputTokens: 0, cacheReadTokens: 5000, outputTokens: 16 },
      { inputTokens: 320, outputTokens: 16 },
    );
    assert.deepEqual(metered.usage, { outputTokens: 16, inputTokens: 320 });
    assert.deepEqual(
      metered.disputed?.figures.map(({ count }) => count),
      ['cost'],
    );
    assert.ok(charge.amountNanoUsd > 0n && charge.amountNanoUsd <= bound.nanoUsd);
  });

  test('if the vendor runs its own tools, counts beyond the bound are accepted, but not a cost beyond it', () => {
    const most = { inputTokens: 100_000, outputTokens: 50, webSearches: 10 };
    const { metered } = judge(gpt, { inputTokens: 200, outputTokens: 80 }, most, { provesCounts: false });
    assert.equal(metered.disputed, undefined);
    const lie = judge(gpt, { inputTokens: 200, outputTokens: 1_000_000_000, webSearches: 1_000_000 }, most, { provesCounts: false });
    assert.ok(lie.metered.disputed !== undefined && lie.charge.amountNanoUsd <= lie.bound.nanoUsd);
  });
});

const count = fc.oneof(fc.nat(100), fc.nat(100_000), fc.nat(10_000_000_000), fc.constant(0));
const usages: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: count,
    cacheReadTokens: count,
    cacheWrite5mTokens: count,
    cacheWrite1hTokens: count,
    outputTokens: count,
    reasoningTokens: count,
    inputAudioTokens: count,
    outputAudioTokens: count,
    webSearches: fc.nat(1000),
    toolCalls: fc.nat(1000),
  },
  { requiredKeys: [] },
);
const bounds = fc.record({ inputTokens: fc.nat(200_000), outputTokens: fc.nat(100_000) });

test('M2, M6: for every report, the charge is within the bound of its call, and exact if the report is possible', () => {
  fc.assert(
    fc.property(fc.constantFrom(...models), usages, bounds, fc.boolean(), (model, usage, most, provesCounts) => {
      const { metered, charge, bound, rate } = judge(model, usage, most, { provesCounts });
      assert.ok(charge.amountNanoUsd <= bound.nanoUsd, `${charge.amountNanoUsd} for at most ${bound.nanoUsd}`);
      assert.equal(recomputeAmount(charge.lines), charge.amountNanoUsd);
      assert.equal(charge.amountNanoUsd, rate(metered).amountNanoUsd, 'the row can be recomputed from its own counts');
      const reported = rate({ usage, estimated: false }).amountNanoUsd;
      const canBe = countInput(usage) <= most.inputTokens && (usage.outputTokens ?? 0) <= most.outputTokens && reported <= bound.nanoUsd;
      if (canBe) assert.deepEqual([metered.usage, metered.disputed, charge.amountNanoUsd], [usage, undefined, reported]);
      if (metered.disputed === undefined) assert.equal(charge.amountNanoUsd, reported);
      else assert.deepEqual(metered.disputed.reported, usage);
    }),
    { numRuns: 500 },
  );
});

test('M2: a settled dispute adds up to the decision, in counts and in money, and never to more', () => {
  fc.assert(
    fc.property(fc.constantFrom(...models), usages, usages, bounds, (model, reported, after, most) => {
      const { metered, charge, rate } = judge(model, reported, most);
      if (metered.disputed === undefined) return;
      const opening = {
        callId: 'req_1',
        acceptedAtMs,
        userName: 'u',
        keyId: 'k',
        keyName: 'k',
        dialect: 'openai-chat',
        requestedModel: model.model,
      };
      const more = {
        upstream: 'one',
        vendor: model.vendor,
        upstreamModel: model.model,
        stream: false,
        inputCharacters: 4,
        priceVersion: 'v',
      };
      const entry = { ...opening, ...more, ...metered, end: 'finished', upstreamStatus: 200, durationMs: 1, charge } as const;
      const decision = { decision: 'corrected', after, by: 'op', atMs: 2 } as const;
      const row = settleDispute(entry, decision, (usage) => rate({ usage, estimated: false }));
      for (const name of new Set([...Object.keys(metered.usage), ...Object.keys(after)]) as Set<keyof Usage>)
        assert.equal((metered.usage[name] ?? 0) + (row.usage[name] ?? 0), after[name] ?? 0);
      assert.equal(recomputeAmount(row.charge.lines), row.charge.amountNanoUsd);
      const difference = charge.amountNanoUsd + row.charge.amountNanoUsd - rate({ usage: after, estimated: false }).amountNanoUsd;
      assert.ok(difference >= -1n && difference <= 1n, 'each row is rounded once');
      assert.deepEqual([row.parentCallId, row.acceptedAtMs, row.disputed, row.settlement?.of], ['req_1', acceptedAtMs, undefined, 'req_1']);
    }),
    { numRuns: 300 },
  );
});
