import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Usage } from '../../inference/usage.ts';
import { loadShippedPriceBook } from './load-shipped-price-book.ts';
import { createPriceBook } from './price-book.ts';
import type { RatedCall } from './rating.ts';

const book = createPriceBook({ book: loadShippedPriceBook() });
const million = 1_000_000;
/** A million tokens each way. */
const bothWays = { inputTokens: million, outputTokens: million };

/** Published vendor prices in USD, per million tokens and as whole examples, on a day on which they are valid. */
const published: readonly (readonly [vendor: string, model: string, day: string, usage: Usage, usd: string, more?: Partial<RatedCall>])[] =
  [
    ['anthropic', 'claude-fable-5', '2026-08-01', bothWays, '60'],
    [
      'anthropic',
      'claude-opus-4-5',
      '2026-08-01',
      { cacheReadTokens: million, cacheWrite5mTokens: million, cacheWrite1hTokens: million },
      '16.75',
    ],
    ['anthropic', 'claude-opus-5', '2026-08-01', bothWays, '30'],
    ['anthropic', 'claude-opus-4-6', '2026-08-01', bothWays, '180', { pricingParameters: { '/speed': '"fast"', speed: 'fast' } }],
    ['anthropic', 'claude-opus-4-6', '2026-08-01', bothWays, '30', { pricingParameters: { '/speed': '"fast"', speed: 'standard' } }],
    ['anthropic', 'claude-opus-4-7', '2026-08-01', bothWays, '33', { pricingParameters: { inference_geo: 'us' } }],
    ['anthropic', 'claude-sonnet-4-5', '2026-08-01', { inputTokens: 200_000, outputTokens: 10_000 }, '0.75'],
    ['anthropic', 'claude-sonnet-4-5', '2026-08-01', { inputTokens: 200_001, outputTokens: 10_000 }, '1.425006'],
    ['anthropic', 'claude-haiku-4-5', '2026-08-01', { inputTokens: million, outputTokens: million, webSearches: 1000 }, '16'],
    ['openai', 'gpt-5.6-sol', '2026-08-10', { inputTokens: 272_000, outputTokens: 1000 }, '1.39'],
    ['openai', 'gpt-5.6-sol', '2026-08-10', { inputTokens: 300_000, outputTokens: 1000 }, '3.045'],
    ['openai', 'gpt-5.6-sol', '2026-10-01', { inputTokens: 100_000, outputTokens: 1000 }, '0.42'],
    [
      'openai',
      'gpt-5.6-luna',
      '2026-08-10',
      { inputTokens: 100_000, cacheReadTokens: 100_000, cacheWrite5mTokens: 10_000, outputTokens: 1000 },
      '0.0257',
    ],
    ['openai', 'gpt-5.5', '2026-08-10', { inputTokens: 1000, cacheReadTokens: 1000, outputTokens: 1000 }, '0.0355'],
    ['openai', 'gpt-5', '2026-01-10', bothWays, '5.625', { serviceTier: 'flex' }],
    ['openai', 'gpt-5-mini', '2026-01-10', bothWays, '2.25'],
    ['openai', 'gpt-4.1', '2026-01-10', { cacheReadTokens: million, fileSearches: 1000, codeSessions: 10 }, '3.3'],
    ['openai', 'gpt-4o', '2026-01-10', bothWays, '6.25', { serviceTier: 'batch' }],
    ['openai', 'o3', '2026-01-10', bothWays, '10'],
    ['openai', 'text-embedding-3-large', '2026-01-10', { inputTokens: million }, '0.13'],
    ['openai', 'gpt-4o-transcribe', '2026-06-10', { inputTokens: million, inputAudioTokens: million }, '6'],
    [
      'openai',
      'gpt-image-1.5',
      '2026-06-10',
      { inputTokens: 1000, inputImageTokens: 400, outputTokens: 4160, outputImageTokens: 4160 },
      '0.13932',
    ],
    ['openai', 'gpt-image-1-mini', '2026-06-10', { inputTokens: million, outputTokens: 1056, outputImageTokens: 1056 }, '2.008448'],
    ['bedrock', 'us.amazon.nova-pro-v1:0', '2026-11-27', { ...bothWays, cacheReadTokens: million }, '4.2'],
    ['bedrock', 'amazon.nova-pro-v1:0', '2026-11-27', bothWays, '7', { serviceTier: 'priority' }],
    ['bedrock', 'us.amazon.nova-2-lite-v1:0', '2026-11-27', bothWays, '3.08'],
    ['openai', 'tts-1', '2026-06-10', { inputCharacters: million }, '15'],
    ['openai', 'whisper-1', '2026-06-10', { inputAudioMs: 60_000 }, '0.006'],
    ['openai', 'sora-2-pro', '2026-06-10', { outputVideoMs: 10_000 }, '5', { pricingParameters: { resolution: '1024p' } }],
    ['openai', 'sora-2-pro', '2026-06-10', { outputVideoMs: 10_000 }, '7', { pricingParameters: { resolution: '1080p' } }],
    ['gemini', 'gemini-3.1-pro-preview', '2026-06-10', { inputTokens: 200_001, cacheReadTokens: 100_000, outputTokens: 1000 }, '0.858004'],
    ['gemini', 'gemini-3-flash-preview', '2026-06-10', { inputTokens: million, inputAudioTokens: million, outputTokens: million }, '4'],
    ['gemini', 'gemini-2.5-flash', '2026-06-10', { inputTokens: million, webSearches: 5 }, '0.335'],
    ['gemini', 'gemini-2.5-flash-image', '2026-06-10', { outputTokens: 1290, outputImageTokens: 1290 }, '0.0387'],
    ['gemini', 'gemini-3.1-flash-image-preview', '2026-06-10', { inputTokens: 1000, outputTokens: 1220, outputImageTokens: 1120 }, '0.068'],
    ['gemini', 'gemini-3-pro-image-preview', '2026-06-10', { outputTokens: 1120, outputImageTokens: 1120 }, '0.1344'],
    ['gemini', 'gemini-2.0-flash', '2026-03-10', { inputTokens: million, inputAudioTokens: 100_000, outputTokens: million }, '0.56'],
    ['xai', 'grok-4.5', '2026-08-10', { inputTokens: million, cacheReadTokens: million, outputTokens: million }, '8.5'],
    ['xai', 'grok-4.3', '2026-08-10', { inputTokens: 200_000 }, '0.5'],
    [
      'xai',
      'grok-imagine-video',
      '2026-10-10',
      { outputVideoMs: 5000, inputImages: 1 },
      '0.352',
      { pricingParameters: { resolution: '720p' } },
    ],
  ];

for (const [vendor, model, day, usage, usd, more] of published) {
  test(`${model} on ${day}: ${JSON.stringify({ ...usage, ...more?.pricingParameters })} costs ${usd} USD`, () => {
    const acceptedAtMs = Date.parse(`${day}T12:00:00Z`);
    const charge = book.rate({ vendor, upstreamModel: model, requestedModel: model, acceptedAtMs, usage, ...more });
    const [whole = '', decimals = ''] = usd.split('.');
    assert.equal(charge.amountNanoUsd, BigInt(whole + decimals.padEnd(9, '0')));
  });
}

/** Every model in the documents of the interface, by the vendor's own name. */
const contracted: readonly (readonly [vendor: string, models: string])[] = [
  ['gemini', 'gemini-3.1-pro-preview gemini-3.1-flash-image-preview gemini-3-flash-preview gemini-3-pro-image-preview'],
  ['gemini', 'gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemini-2.0-flash'],
  ['openai', 'tts-1 tts-1-hd whisper-1'],
  ['xai', 'grok-imagine-video'],
];

test('every model that the interface names is in the shipped book, with its source, the day it was checked, and its first day', () => {
  const entries = loadShippedPriceBook().entries;
  for (const [vendor, models] of contracted) {
    for (const model of models.split(' ')) {
      const entry = entries.find((candidate) => candidate.vendor === vendor && candidate.model === model);
      assert.ok(entry, model);
      assert.match(entry.source, /\w/, model);
      for (const day of [entry.checked, entry.effectiveFrom]) assert.match(day, /^\d{4}-\d\d-\d\d$/, model);
    }
  }
});
