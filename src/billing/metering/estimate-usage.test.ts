import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { measureInput } from '../../inference/measure-input.ts';
import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { estimateUsage } from './estimate-usage.ts';

const input = { textBytes: 1000, images: 0, files: 0, fileBytes: 0, offersTools: false };
const plain = { input, inputCharacters: 800, outputTokensDefault: 4096 };

test('without a bound the default is assumed, or less if the model writes less', () => {
  assert.equal(estimateUsage(plain).most.outputTokens, 4096);
  assert.equal(estimateUsage({ ...plain, modelOutputTokensMax: 1024 }).most.outputTokens, 1024);
  assert.equal(estimateUsage({ ...plain, modelOutputTokensMax: 128_000 }).most.outputTokens, 4096);
});

test('the requested bound is used, and no reply is expected to be longer', () => {
  const { expected, most } = estimateUsage({ ...plain, outputTokensMax: 16, modelOutputTokensMax: 8 });
  assert.deepEqual([expected.outputTokens, most.outputTokens], [16, 16]);
  assert.equal(estimateUsage({ ...plain, outputTokensMax: 0 }).most.outputTokens, 0);
});

test('input is estimated by its characters, and bounded by its bytes and by the context of the model', () => {
  const { expected, most } = estimateUsage(plain);
  assert.equal(expected.inputTokens, 200);
  assert.equal(most.inputTokens, 1000 + 256);
  assert.equal(estimateUsage({ ...plain, input: { ...input, offersTools: true } }).most.inputTokens, 1000 + 2048);
  assert.equal(estimateUsage({ ...plain, contextTokensMax: 1200 }).most.inputTokens, 1200);
});

test('images, files and searches are included', () => {
  const rich = estimateUsage({
    ...plain,
    input: { textBytes: 0, images: 2, files: 1, fileBytes: 50, offersTools: true },
    builtInTools: ['web-search', 'code-execution'],
  });
  assert.equal(rich.most.inputTokens, 2048 + 2 * 8192 + 50 + 131_072 + 2 * 10 * 8192);
  assert.deepEqual([rich.most.webSearches, rich.most.codeSessions, rich.most.toolCalls, rich.most.fileSearches], [10, 1, 20, undefined]);
  assert.deepEqual([rich.expected.webSearches, rich.expected.codeSessions], [1, 1]);
});

test('F14: the charge of a call is never more than its bound, whatever its tier and its cache (M13)', () => {
  const priceBook = createPriceBook({ book: loadShippedPriceBook() });
  const models = ['anthropic', 'openai', 'gemini', 'xai'].flatMap((vendor) => priceBook.models(vendor));
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      fc.integer({ min: 0, max: 400_000 }),
      fc.nat(100_000),
      fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100), fc.nat(100)),
      ({ vendor, model }, characters, outputTokensMax, shares) => {
        const text = 'x'.repeat(characters);
        const { expected, most } = estimateUsage({
          input: measureInput({ text }),
          inputCharacters: characters,
          outputTokensMax,
          outputTokensDefault: 1,
        });
        const call = { vendor, upstreamModel: model, requestedModel: model, acceptedAtMs: Date.UTC(2026, 10, 1) };
        const bounds = priceBook.bound({ ...call, expected, most });
        const all = shares.reduce((sum, share) => sum + share, 1);
        const part = (place: number): number => Math.floor((characters * (shares[place] ?? 0)) / all);
        const usage = {
          inputTokens: part(0),
          cacheReadTokens: part(1),
          cacheWrite5mTokens: part(2),
          cacheWrite1hTokens: part(3),
          outputTokens: outputTokensMax,
        };
        const charged = priceBook.rate({ ...call, usage }).amountNanoUsd;
        assert.ok(charged <= bounds.maximumNanoUsd, `${vendor}/${model}: ${charged} > ${bounds.maximumNanoUsd}`);
        assert.ok(bounds.minimumNanoUsd <= bounds.expectedNanoUsd && bounds.expectedNanoUsd <= bounds.maximumNanoUsd);
      },
    ),
    { numRuns: 300 },
  );
});
