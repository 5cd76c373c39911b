import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { content, ending, opening, startAttempts, succeed } from './testing/fake-attempts.ts';

describe('A6: opening events of a stream that stalls are held for a time', () => {
  test('they are held, so that another attempt can answer unnoticed', async () => {
    const call = await startAttempts(['a', 'b']);
    call.answer(200);
    call.data(opening);
    await call.settle(890);
    assert.equal(call.response.headersSent, false);
    call.breakOff('ECONNRESET');
    await call.settle();
    assert.equal(call.wire(), 'a b');
    await succeed(call);
    assert.equal(call.response.text(), opening + content + ending);
  });

  test('they pass within a second, and no other attempt follows: a later failure is an event', async () => {
    const call = await startAttempts(['a', 'b']);
    call.answer(200);
    call.data(opening);
    await call.settle(1000);
    assert.equal(call.response.text(), opening);
    call.breakOff('ECONNRESET');
    await call.settle(10_000);
    assert.equal(call.wire(), 'a');
    assert.match(call.response.text(), /Upstream connection error/);
    assert.deepEqual(
      call.entries.map(({ end, charge }) => [end, charge.amountNanoUsd]),
      [['failed', 0n]],
    );
  });

  test('the head passes alone if the upstream has sent nothing yet', async () => {
    const call = await startAttempts(['a']);
    call.answer(200);
    await call.settle(1000);
    assert.equal(call.response.status, 200);
    call.data(opening);
    assert.equal(call.response.text(), opening, 'from then on everything passes at once');
  });

  test('the content after them is charged as usual', async () => {
    const call = await startAttempts(['a']);
    call.answer(200);
    call.data(opening);
    await call.settle(1000);
    call.data(content);
    call.data(ending);
    call.end();
    await call.settle();
    assert.equal(call.response.text(), opening + content + ending);
    assert.deepEqual(call.entries[0]?.usage, { inputTokens: 5, outputTokens: 1 });
  });

  test('an operator chooses the time', async () => {
    for (const [holdOpeningMs, ms, isSent] of [
      [0, 0, true],
      [5000, 4000, false],
      [5000, 5000, true],
    ] as const) {
      const call = await startAttempts(['a'], { holdOpeningMs });
      call.answer(200);
      call.data(opening);
      await call.settle(ms);
      assert.equal(call.response.headersSent, isSent, `${holdOpeningMs} after ${ms}`);
    }
  });
});
