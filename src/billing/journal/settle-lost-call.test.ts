import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallOpening } from '../ledger/call-entry.ts';
import type { PriceBook } from '../rating/rating.ts';
import { createLostCallSettler, type RecordedHead, type RecordedProgress } from './settle-lost-call.ts';

const opening: CallOpening = {
  callId: 'c',
  acceptedAtMs: 1,
  userName: 'u',
  keyId: 'k',
  keyName: 'n',
  dialect: 'd',
  requestedModel: 'm',
  upstream: 'p',
  vendor: 'v',
  upstreamModel: 'w',
  stream: true,
  inputCharacters: 400,
  priceVersion: 'old',
};
const head: RecordedHead = { status: 200, upstreamRequestId: 'up', elapsedMs: 7.4 };
const usage = { inputTokens: 5, outputTokens: 6 };

/** Settles a lost call with a book that charges one nano-USD per token. */
function settle(lastHead?: RecordedHead, progress?: RecordedProgress) {
  const rate: PriceBook['rate'] = ({ usage: used }) => ({
    amountNanoUsd: BigInt((used.inputTokens ?? 0) + (used.outputTokens ?? 0)),
    lines: [],
  });
  const priceBook: Pick<PriceBook, 'rate' | 'version'> = { version: 'new', rate };
  return createLostCallSettler({ priceBook: priceBook as PriceBook })(opening, lastHead, progress);
}

for (const [what, lastHead, end, status, durationMs] of [
  ['without an answer', undefined, 'lost', undefined, 0],
  ['that an upstream refused', { ...head, status: 400 }, 'failed', 400, 7],
] as const)
  test(`a lost call ${what} costs nothing, at the prices of its admission`, () => {
    const entry = settle(lastHead);
    assert.deepEqual(
      [entry.end, entry.upstreamStatus, entry.durationMs, entry.priceVersion, entry.usage, entry.estimated, entry.charge],
      [end, status, durationMs, 'old', {}, false, { amountNanoUsd: 0n, lines: [] }],
    );
    assert.equal(entry.upstreamRequestId, lastHead?.upstreamRequestId);
  });

test('a lost call that was answered is charged by the report of its upstream, at the present prices', () => {
  const entry = settle({ ...head, status: 399 }, { usage, outputCharacters: 0, elapsedMs: 20.6 });
  assert.deepEqual([entry.end, entry.durationMs, entry.upstreamRequestId, entry.priceVersion], ['lost', 21, 'up', 'new']);
  assert.deepEqual([entry.usage, entry.charge.amountNanoUsd], [usage, 11n]);
});

test('usage that its upstream did not report is counted, and marked as estimated', () => {
  const silent = settle(head);
  assert.equal(silent.estimated, true);
  assert.ok((silent.usage.inputTokens ?? 0) > 0);
  const speaking = settle(head, { outputCharacters: 4000, elapsedMs: -3 });
  assert.ok((speaking.usage.outputTokens ?? 0) > (silent.usage.outputTokens ?? 0));
  assert.equal(speaking.durationMs, 0);
});

test('an answer without an upstream id gives an entry without one', () => {
  assert.ok(!('upstreamRequestId' in settle({ status: 200, elapsedMs: 1 })));
});
