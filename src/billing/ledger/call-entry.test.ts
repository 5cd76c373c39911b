import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Billing, billingOf, isBilled, statisticsCounts } from './call-entry.ts';

test('cache reads and writes, and characters of speech, are parts of the prompt', () => {
  const usage = {
    inputTokens: 1,
    inputCharacters: 20,
    cacheReadTokens: 300,
    cacheWrite5mTokens: 4000,
    cacheWrite1hTokens: 50_000,
    outputTokens: 600_000,
    reasoningTokens: 7,
  };
  assert.deepEqual(statisticsCounts(usage), {
    promptTokens: 54_321,
    completionTokens: 600_000,
    cacheTokens: 300,
    cacheCreationTokens: 54_000,
  });
  assert.deepEqual(statisticsCounts({}), { promptTokens: 0, completionTokens: 0, cacheTokens: 0, cacheCreationTokens: 0 });
});

const rows: readonly (readonly [string, Parameters<typeof billingOf>[0], Billing])[] = [
  ['a call that an upstream answered', { end: 'finished', upstreamStatus: 200 }, 1],
  ['an interrupted call', { end: 'cut', upstreamStatus: 200 }, 1],
  ['a call whose client disconnected', { end: 'client-left', upstreamStatus: 200 }, 1],
  ['a further round', { end: 'finished', upstreamStatus: 200, parentCallId: 'a' }, 2],
  ['the use of tools', { end: 'finished', toolUsage: {}, parentCallId: 'a' }, 2],
  ['a call without an answer', { end: 'lost' }, 0],
  ['a failed call, whatever answered', { end: 'failed', upstreamStatus: 500 }, 0],
  ['a failed part', { end: 'failed', toolUsage: {}, parentCallId: 'a' }, 0],
];
for (const [what, row, billing] of rows)
  test(`${what} counts ${['nowhere', 'as a call', 'as a part of one'][billing]}`, () => {
    assert.equal(billingOf(row), billing);
    assert.equal(isBilled(row), billing !== 0);
  });
