import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type CallEntry, statisticsCounts } from '../../../../billing/ledger/call-entry.ts';
import { recomputeAmount } from '../../../../billing/rating/recompute-amount.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects, dialectIds } from '../../../../dialects/registry.ts';
import type { VendorId } from '../../../../upstreams/upstream-vendor.ts';
import { readShapes, settleShape, type UsageShape } from './testing/settle-shape.ts';

type Shape = UsageShape & { readonly vendor: VendorId };

const corpus: readonly (readonly [DialectId, Shape])[] = dialectIds.flatMap((dialect) =>
  readShapes(`${dialect}.json`).map((shape) => [dialect, shape] as const),
);

/** The row of a shape, in the form of the corpus. */
function describeRow({ end, estimated, serviceTier, usage, charge }: CallEntry): object {
  return { end, estimated, serviceTier, usage, nanoUsd: String(charge.amountNanoUsd) };
}

function expectedRow({ end = 'finished', estimated = false, serviceTier, usage, nanoUsd }: Shape): object {
  return { end, estimated, serviceTier, usage, nanoUsd };
}

for (const dialect of dialectIds)
  describe(`M17, ${dialect}: reported usage is booked and charged, to the last nano-dollar`, () => {
    for (const [, shape] of corpus.filter(([of]) => of === dialect))
      test(`${shape.vendor}, ${shape.frames === undefined ? 'whole' : 'stream'}: ${shape.name}`, () => {
        const framings =
          dialect === 'gemini-generate-content' && shape.frames !== undefined ? (['sse', 'json-array'] as const) : ['sse' as const];
        for (const framing of framings) {
          // A stream that is a list is complete with its closing bracket, so a cut one must lack it.
          if (framing === 'json-array' && shape.end !== undefined) continue;
          for (const chunkBytes of [1, 7, 1_000_000]) {
            const row = settleShape(shape, { dialect, framing, chunkBytes });
            assert.deepEqual(describeRow(row), expectedRow(shape), `${framing} in pieces of ${chunkBytes} bytes`);
            assert.equal(recomputeAmount(row.charge.lines), row.charge.amountNanoUsd);
          }
        }
      });
  });

describe('every shape of usage keeps these rules', () => {
  test('F38, F39: a stream that reports everything twice costs the same as one that reports once', () => {
    for (const [dialect, shape] of corpus) {
      if (shape.frames === undefined || shape.estimated === true) continue;
      const twice = { ...shape, frames: shape.frames.flatMap((frame) => [frame, frame]) };
      assert.deepEqual(describeRow(settleShape(twice, { dialect })), expectedRow(shape), `${dialect}: ${shape.name}`);
    }
  });

  test('F38: cache reads and writes are part of the input in the statistics, and each is in one line of a charge', () => {
    let cached = 0;
    for (const [dialect, shape] of corpus) {
      const { usage, charge } = settleShape(shape, { dialect });
      const { promptTokens, completionTokens, cacheTokens, cacheCreationTokens } = statisticsCounts(usage);
      if (cacheTokens + cacheCreationTokens > 0) cached += 1;
      const charged = (pattern: RegExp): number =>
        charge.lines.filter(({ meter }) => pattern.test(meter)).reduce((sum, { quantity }) => sum + quantity, 0);
      assert.equal(charged(/^(?:input|cache)/), promptTokens, `${dialect}: ${shape.name}`);
      assert.equal(charged(/^(?:output|reasoning)/), completionTokens, `${dialect}: ${shape.name}`);
      assert.equal(charged(/^cache_read/), cacheTokens);
      assert.equal(charged(/^cache_write/), cacheCreationTokens);
    }
    assert.ok(cached > 20, `${cached} shapes have a cache`);
  });

  test('F38: counts stay the same in any other dialect, whether it includes or separates them', () => {
    let told = 0;
    for (const [dialect, shape] of corpus) {
      const { usage } = settleShape(shape, { dialect });
      if (shape.estimated === true || usage.inputTokens === undefined) continue;
      for (const client of dialectIds) {
        const words = chatDialects[client].codec.encodeUsage(usage);
        const { usageReport } = chatDialects[client].readReply({ usage: words, usageMetadata: words });
        const { cacheCreationTokens: heardWritten, ...heard } = statisticsCounts(usageReport?.usage ?? {});
        const { cacheCreationTokens: written, ...said } = statisticsCounts(usage);
        assert.deepEqual(heard, said, `${dialect} to ${client}: ${shape.name}: ${JSON.stringify(words)}`);
        if (client !== 'gemini-generate-content') assert.equal(heardWritten, written, `${dialect} to ${client}: ${shape.name}`);
        told += 1;
      }
    }
    assert.ok(told > 200, `${told} times`);
  });

  test('F24: a delivered and finished reply is free only if its vendor explicitly reports no usage', () => {
    for (const [dialect, shape] of corpus) {
      const { end, usage, estimated } = settleShape(shape, { dialect });
      if (end === 'failed') assert.deepEqual(usage, {});
      else assert.ok(usage.outputTokens !== undefined && usage.inputTokens !== undefined, `${dialect}: ${shape.name}`);
      if (usage.outputTokens === 0) assert.equal(estimated, false, `${dialect}: ${shape.name}`);
    }
  });

  test('F27: an error costs the same however long it is', () => {
    const told = corpus.filter(([, { frames }]) => JSON.stringify(frames ?? []).includes('Overloaded. '));
    assert.ok(told.length > 8);
    for (const [dialect, shape] of told) {
      const text = JSON.stringify(shape.frames).replaceAll('Overloaded. ', 'O');
      const short: Shape = { ...shape, frames: JSON.parse(text) as readonly string[] };
      assert.deepEqual(describeRow(settleShape(short, { dialect })), expectedRow(shape), `${dialect}: ${shape.name}`);
    }
  });
});
