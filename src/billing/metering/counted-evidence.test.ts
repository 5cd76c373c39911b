import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Usage, UsageReport } from '../../inference/usage.ts';
import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { meterCall } from './meter-call.ts';
import { settleTools } from './settle-tools.ts';

const characters = { inputCharacters: 4000, outputCharacters: 100 };

function finished(usage: Usage, more: Partial<UsageReport> = {}, outputCharacters = 100) {
  return meterCall({ end: 'finished', report: { usage, raw: {}, trustworthy: true, ...more }, inputCharacters: 4000, outputCharacters });
}

test('M17: a report of output only is exact, and so is one of cache reads and writes only', () => {
  assert.deepEqual(finished({ outputTokens: 7 }), { usage: { outputTokens: 7 }, rawUsage: {}, estimated: false });
  for (const usage of [{ cacheReadTokens: 7 }, { cacheWrite5mTokens: 7 }, { cacheWrite1hTokens: 7 }, { inputTokens: 0 }])
    assert.deepEqual(finished(usage, {}, 0), { usage, rawUsage: {}, estimated: false });
});

test('M17: cache counts are subtracted from the estimate of the input, each once and never below 0', () => {
  const cut = (progressUsage: Usage) => meterCall({ end: 'cut', progressUsage, ...characters }).usage.inputTokens;
  assert.equal(cut({ cacheReadTokens: 100 }), 900);
  assert.equal(cut({ cacheWrite5mTokens: 100 }), 900);
  assert.equal(cut({ cacheWrite1hTokens: 100 }), 900);
  assert.equal(cut({ cacheReadTokens: 100, cacheWrite5mTokens: 30, cacheWrite1hTokens: 7 }), 863);
  assert.equal(cut({ cacheReadTokens: 5000 }), 0);
});

test('M17: parameters of the price are stored with the counts, and only if the reply has them', () => {
  const usage = { inputTokens: 1, outputTokens: 2 };
  const replyParameters = { speed: 'fast' };
  assert.deepEqual(Object.keys(finished(usage)).toSorted(), ['estimated', 'rawUsage', 'usage']);
  assert.deepEqual(finished(usage, { serviceTier: 'flex' }), { usage, rawUsage: {}, estimated: false, serviceTier: 'flex' });
  assert.deepEqual(finished(usage, { replyParameters }), { usage, rawUsage: {}, estimated: false, replyParameters });
});

test('the use of tools is counted by the gateway itself, and is not an estimate', () => {
  const opening = {
    callId: 'c.tools',
    acceptedAtMs: 1,
    userName: 'u',
    keyId: 'k',
    keyName: 'k',
    dialect: 'openai-chat',
    requestedModel: 'm',
    upstream: 'gateway',
    vendor: 'gateway',
    upstreamModel: 'tools',
    stream: false,
    inputCharacters: 0,
    priceVersion: 'v',
  };
  const priceBook = createPriceBook({ book: loadShippedPriceBook() });
  assert.equal(settleTools(opening, { webSearches: 1, fileSearches: 0, codeExecutions: 0 }, priceBook, 5).estimated, false);
});
