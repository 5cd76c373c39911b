import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { PricingParameters, Usage } from '../../inference/usage.ts';
import { loadShippedPriceBook } from './load-shipped-price-book.ts';
import { mediaLines } from './media-lines.ts';
import { PriceBookError } from './parse-price-book.ts';
import { createPriceBook, type PriceOverride } from './price-book.ts';
import { recomputeAmount } from './recompute-amount.ts';

const book = loadShippedPriceBook();
const acceptedAtMs = Date.parse('2026-11-22T00:00:00Z');

function rate(
  vendor: string,
  model: string,
  usage: Usage,
  pricingParameters?: PricingParameters,
  overrides: readonly PriceOverride[] = [],
) {
  const call = { vendor, upstreamModel: model, requestedModel: model, acceptedAtMs, usage, pricingParameters };
  return createPriceBook({ book, overrides }).rate(call);
}

const rows: readonly (readonly [vendor: string, model: string, usage: Usage, resolution: string | undefined, nanoUsd: bigint])[] = [
  ['openai', 'tts-1', { inputCharacters: 4096 }, undefined, 61_440_000n],
  ['openai', 'tts-1-hd', { inputCharacters: 1 }, undefined, 30_000n],
  // 8.47 seconds are billed as 9.
  ['openai', 'whisper-1', { inputAudioMs: 8470 }, undefined, 900_000n],
  ['openai', 'whisper-1', { inputAudioMs: 9000 }, undefined, 900_000n],
  ['openai', 'gpt-4o-transcribe', { inputTokens: 14, inputAudioTokens: 14, outputTokens: 45 }, undefined, 534_000n],
  ['openai', 'gpt-4o-mini-tts', { inputTokens: 12, outputTokens: 340 }, undefined, 4_087_200n],
  ['xai', 'grok-imagine-video', { outputVideoMs: 5000 }, '480p', 250_000_000n],
  ['xai', 'grok-imagine-video', { outputVideoMs: 5000, inputImages: 2 }, '720p', 354_000_000n],
  ['xai', 'grok-imagine-video', { outputVideoMs: 8700 }, '480p', 435_000_000n],
  ['openai', 'sora-2', { outputVideoMs: 8000 }, '720p', 800_000_000n],
];

for (const [vendor, model, usage, resolution, nanoUsd] of rows) {
  test(`${model}: ${JSON.stringify(usage)} ${resolution ?? ''} is ${nanoUsd} nano-USD`, () => {
    const charge = rate(vendor, model, usage, resolution === undefined ? undefined : { resolution });
    assert.equal(charge.amountNanoUsd, nanoUsd);
    assert.ok(charge.priceId?.startsWith(`${vendor}/${model}@`));
  });
}

test('a resolution that is unknown or not listed costs no less', () => {
  for (const parameters of [undefined, {}, { resolution: '8k' }, { resolution: '__proto__' }, { resolution: 'constructor' }])
    assert.equal(rate('xai', 'grok-imagine-video', { outputVideoMs: 1000 }, parameters).amountNanoUsd, 70_000_000n);
});

test('more of anything never costs less, and the lines recompute the amount', () => {
  const count = fc.nat(10_000_000);
  const usages = fc.record({ inputCharacters: count, inputAudioMs: count, outputVideoMs: count, inputImages: count });
  const prices = { characters: '15', audioMinute: '0.006', inputImage: '0.002', videoSecond: { '480p': '0.05', '720p': '0.07' } };
  fc.assert(
    fc.property(usages, usages, fc.constantFrom(undefined, '480p', '720p', '1080p'), (one, more, resolution) => {
      const parameters = resolution === undefined ? undefined : { resolution };
      const both = Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value + more[name as keyof typeof more]])) as Usage;
      const [first, second] = [one, both].map((usage) => recomputeAmount(mediaLines(usage, parameters, prices)));
      assert.ok((first ?? 0n) <= (second ?? 0n));
    }),
  );
});

test('an override prices its own members, and the list the rest', () => {
  const model = 'grok-imagine-video';
  const usage = { outputVideoMs: 1000, inputImages: 1 };
  const charge = rate('xai', model, usage, { resolution: '720p' }, [{ model, videoSecond: { '720p': '1' } }]);
  assert.deepEqual([charge.amountNanoUsd, charge.priceId], [1_002_000_000n, `override/${model}`]);
  const speech = rate('openai-compatible', 'kokoro', { inputCharacters: 1_000_000 }, undefined, [{ model: 'kokoro', characters: '0.5' }]);
  assert.equal(speech.amountNanoUsd, 500_000_000n);
});

test('an invalid override is named', () => {
  for (const [override, words] of [
    [{ input: '1' }, /input and output must both be set/],
    [{ videoSecond: { '720p': '-1' } }, /videoSecond\.720p must be a decimal/],
  ] as const) {
    assert.throws(
      () => createPriceBook({ book, overrides: [{ model: 'm', ...override }] }),
      (error) => error instanceof PriceBookError && words.test(error.message),
    );
  }
});

test('a call that is billed in other units costs nothing for tokens without a price', () => {
  const charge = rate('openai', 'whisper-1', { inputTokens: 1000, outputTokens: 1000, inputAudioMs: 1000 });
  assert.deepEqual(
    charge.lines.map(({ meter }) => meter),
    ['audio_second'],
  );
});
