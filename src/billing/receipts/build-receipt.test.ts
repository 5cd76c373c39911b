import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallEntry } from '../ledger/call-entry.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { bookOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { pricedEntry } from '../rating/testing/priced-entry-kit.ts';
import { buildReceipt } from './build-receipt.ts';
import { canonicalJson } from './receipt-digest.ts';
import { verifyReceipt } from './verify-receipt.ts';

const book = createPriceBook({ book: bookOf(plainEntry()) });
const row = (more: Partial<CallEntry> = {}): CallEntry => pricedEntry(book, { inputTokens: 7 }, more);
const part = (callId: string, more: Partial<CallEntry> = {}): CallEntry => row({ callId, parentCallId: 'req_1', ...more });
const tools = (callId: string): CallEntry => part(callId, { toolUsage: { webSearches: 1 } });

test('a receipt has all facts of a call: its parameters, its attempts and its end', () => {
  const note = { kind: 'dropped', field: 'seed', reason: 'the vendor has none' } as const;
  const receipt = buildReceipt(
    [
      row({
        pricingParameters: { '/quality': '"hd"' },
        replyParameters: { speed: 'fast' },
        heldNanoUsd: '1500000000',
        firstByteMs: 1.6,
        durationMs: 12.4,
        translation: { upstreamDialect: 'openai-chat', notes: [note] },
        replyNotes: [{ ...note, field: 'logprobs' }],
        failedAttempts: [
          { upstream: 'a', credential: 'c', upstreamModel: 'm', upstreamStatus: 503, errorCode: 'upstream_error', durationMs: 9.5 },
        ],
        disconnect: { policy: 'drain', leftAfterMs: 3.2, deliveredCharacters: 40, upstreamEndedAfterMs: 8.7, usageReported: true },
      }),
    ],
    true,
  );
  const [receiptRow] = receipt.rows;
  assert.deepEqual(
    [receiptRow?.pricing_parameters, receiptRow?.reply_parameters, receiptRow?.held, receiptRow?.timings, receiptRow?.upstream_dialect],
    [
      { '/quality': '"hd"' },
      { speed: 'fast' },
      { nano_usd: '1500000000', usd: '1.5' },
      { first_byte_ms: 2, duration_ms: 12 },
      'openai-chat',
    ],
  );
  assert.deepEqual(receiptRow?.notes, { request: [note], reply: [{ ...note, field: 'logprobs' }] });
  const tried = {
    upstream: 'a',
    upstream_model: 'm',
    upstream_status: 503,
    upstream_request_id: null,
    error_code: 'upstream_error',
    duration_ms: 10,
  };
  assert.deepEqual(receiptRow?.attempts, [tried]);
  const disconnect = { policy: 'drain', left_after_ms: 3, delivered_characters: 40, upstream_ended_after_ms: 9, usage_reported: true };
  assert.deepEqual(receiptRow?.disconnect, disconnect);
  assert.deepEqual(verifyReceipt(receipt).problems, []);
});

test('unknown facts of a call are null, and a clock that jumps back gives no negative time', () => {
  const [receiptRow] = buildReceipt([row({ durationMs: -3 })], true).rows;
  assert.deepEqual([receiptRow?.held, receiptRow?.disconnect, receiptRow?.timings], [null, null, { first_byte_ms: null, duration_ms: 0 }]);
});

test('the end of a call is that of its last model request, and its hold is the highest of any row', () => {
  const parts = [part('req_1.2', { end: 'cut', heldNanoUsd: '9' }), tools('req_1.3')];
  const { rows, end, held } = buildReceipt([row({ heldNanoUsd: '5' }), ...parts], true);
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['call', 'part', 'tools'],
  );
  assert.deepEqual([end, held], ['cut', { nano_usd: '9', usd: '0.000000009' }]);
  const shrunk = buildReceipt([row({ heldNanoUsd: '8' }), part('req_1.2', { heldNanoUsd: '3' }), part('req_1.3')], true);
  assert.deepEqual([shrunk.end, shrunk.held?.nano_usd], ['finished', '8']);
  assert.equal(buildReceipt([row({ toolUsage: { webSearches: 1 } })], true).end, 'finished');
});

test('canonical JSON does not depend on the order of members', () => {
  for (const [value, text] of [
    [{ b: 1, a: { d: [2, 'x', null], c: true } }, '{"a":{"c":true,"d":[2,"x",null]},"b":1}'],
    [{ '10': 1, '9': 2, A: 3, a: 4, _: 5 }, '{"10":1,"9":2,"A":3,"_":5,"a":4}'],
    [[], '[]'],
    [{}, '{}'],
    ['"', '"\\""'],
  ] as const)
    assert.equal(canonicalJson(value), text);
});
