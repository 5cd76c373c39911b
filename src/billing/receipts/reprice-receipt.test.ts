import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Usage } from '../../inference/usage.ts';
import type { CallEntry } from '../ledger/call-entry.ts';
import { settleTools } from '../metering/settle-tools.ts';
import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { pricedEntry } from '../rating/testing/priced-entry-kit.ts';
import { buildReceipt } from './build-receipt.ts';
import { verifyReceipt, verifyReceiptText } from './verify-receipt.ts';

const book = createPriceBook({ book: loadShippedPriceBook(), toolPrices: { webSearch: '0.01' } });
const other = createPriceBook({ book: loadShippedPriceBook(), toolPrices: { webSearch: '0.02' } });
const settled = (usage: Usage, more: Partial<CallEntry> = {}): CallEntry => pricedEntry(book, usage, more);

test('with the price book of its version, every line is recomputed from the usage', () => {
  const rows: [CallEntry, ...CallEntry[]][] = [
    [settled({ inputTokens: 250_000, cacheReadTokens: 7, cacheWrite5mTokens: 9, cacheWrite1hTokens: 3, outputTokens: 11 })],
    [settled({ inputTokens: 1, webSearches: 3 }, { serviceTier: 'batch' })],
    [
      settled({ inputTokens: 1 }),
      settleTools(settled({}, { callId: 'req_1.1.tools', parentCallId: 'req_1' }), { webSearches: 2, pagesRead: 1 }, book, 3),
      settled({ inputTokens: 2, outputTokens: 1 }, { callId: 'req_1.2', parentCallId: 'req_1' }),
    ],
    [settled({}, { end: 'failed', charge: { amountNanoUsd: 0n, lines: [] } })],
    [
      settled(
        { outputVideoMs: 5000, inputImages: 1 },
        {
          vendor: 'xai',
          upstreamModel: 'grok-imagine-video',
          requestedModel: 'grok-imagine-video',
          pricingParameters: { resolution: '720p' },
        },
      ),
    ],
  ];
  for (const call of rows) {
    const { problems, rerated } = verifyReceipt(JSON.parse(JSON.stringify(buildReceipt(call, true))), [other, book]);
    assert.deepEqual([problems, rerated], [[], call.length]);
  }
});

test('a usage that does not match its lines is named, also with a recomputed digest', () => {
  const entry = settled({ inputTokens: 1000, outputTokens: 10 });
  const { problems } = verifyReceipt(buildReceipt([{ ...entry, usage: { inputTokens: 999, outputTokens: 10 } }], true), [book]);
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['rows.0.lines.0'],
  );
});

test('a book of another version recomputes nothing', () => {
  const text = JSON.stringify(buildReceipt([settled({ inputTokens: 1000 })], true));
  assert.deepEqual([verifyReceiptText(text, [other]).rerated, verifyReceiptText(text, [other]).problems], [0, []]);
});

test('a receipt has the reason of an estimate', () => {
  for (const [more, reason] of [
    [{ estimated: false }, null],
    [{ estimated: true, end: 'lost' }, 'process_died'],
    [{ estimated: true, end: 'cut' }, 'reply_broken_off'],
    [{ estimated: true, end: 'client-left', rawUsage: {} }, 'reply_broken_off'],
    [{ estimated: true }, 'no_usage_report'],
    [{ estimated: true, rawUsage: { input_tokens: '7' } }, 'incomplete_usage_report'],
  ] as const)
    assert.equal(buildReceipt([settled({}, more)], true).rows[0]?.estimate_reason, reason);
});

test('a receipt never contains a credential of the operator', () => {
  const failedAttempts = [{ upstream: 'a', credential: 'cred_secret', upstreamModel: 'm', errorCode: 'upstream_error', durationMs: 1 }];
  assert.doesNotMatch(JSON.stringify(buildReceipt([settled({}, { failedAttempts })], true)), /cred_secret/);
});
