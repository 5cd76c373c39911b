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

test('a receipt tells all that is known of a call: its words, its way, and what became of it', () => {
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
  const [told] = receipt.rows;
  assert.deepEqual(
    [told?.pricing_parameters, told?.reply_parameters, told?.held, told?.timings, told?.upstream_dialect],
    [
      { '/quality': '"hd"' },
      { speed: 'fast' },
      { nano_usd: '1500000000', usd: '1.5' },
      { first_byte_ms: 2, duration_ms: 12 },
      'openai-chat',
    ],
  );
  assert.deepEqual(told?.notes, { request: [note], reply: [{ ...note, field: 'logprobs' }] });
  const tried = {
    upstream: 'a',
    upstream_model: 'm',
    upstream_status: 503,
    upstream_request_id: null,
    error_code: 'upstream_error',
    duration_ms: 10,
  };
  assert.deepEqual(told?.attempts, [tried]);
  const left = { policy: 'drain', left_after_ms: 3, delivered_characters: 40, upstream_ended_after_ms: 9, usage_reported: true };
  assert.deepEqual(told?.disconnect, left);
  assert.deepEqual(verifyReceipt(receipt).problems, []);
});

test('what is not known of a call is null, and a clock that went back makes no time negative', () => {
  const [told] = buildReceipt([row({ durationMs: -3 })], true).rows;
  assert.deepEqual([told?.held, told?.disconnect, told?.timings], [null, null, { first_byte_ms: null, duration_ms: 0 }]);
});

test('a call ended as its model was last asked, and what was held for it is the most that any of its rows tells', () => {
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

test('JSON has one canonical spelling, whatever the order in which members were written', () => {
  for (const [value, text] of [
    [{ b: 1, a: { d: [2, 'x', null], c: true } }, '{"a":{"c":true,"d":[2,"x",null]},"b":1}'],
    [{ '10': 1, '9': 2, A: 3, a: 4, _: 5 }, '{"10":1,"9":2,"A":3,"_":5,"a":4}'],
    [[], '[]'],
    [{}, '{}'],
    ['"', '"\\""'],
  ] as const)
    assert.equal(canonicalJson(value), text);
});
