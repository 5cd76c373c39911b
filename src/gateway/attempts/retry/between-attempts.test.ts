import type { PreparedCall } from '../../endpoints/chat/incoming-call.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';

import { subjectOf } from '../routing/target.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { content, createTarget, ending, opening, startAttempts } from './testing/fake-attempts.ts';

describe('events between two attempts are handled', () => {
  test('if the client disconnects, the call is settled once, and nothing more is sent', async () => {
    const call = await startAttempts(['a']);
    call.refuse(503);
    call.response.close();
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.deepEqual(
      call.entries.map(({ end }) => end),
      ['failed'],
    );
  });

  test('a target that cannot take the request is skipped, at any attempt, and uses no budget', async () => {
    const call = await startAttempts(['x', 'a', 'y', 'b'], { unfit: ['x', 'y'] });
    call.refuse(503);
    await call.settle();
    assert.equal(call.wire(), 'a b');
    assert.equal(call.gateway.retryBudget.left('y'), call.gateway.retryBudget.left('x'));
  });

  test('if no other target can take it, the same one gets it again, and its failure is reported', async () => {
    const call = await startAttempts(['a', 'y'], { unfit: ['y'], attemptsMax: 2 });
    call.refuse(503);
    await call.settle();
    await call.settle(60_000);
    assert.deepEqual([call.wire(), call.entries.map(({ end }) => end)], ['a a', []]);
    call.refuse(503);
    await call.settle(60_000);
    assert.deepEqual([call.response.status, call.entries.map(({ end }) => end)], [503, ['failed']]);
  });

  for (const policy of ['abort', 'drain', 'deliver'] as const) {
    const enrich = (known: PreparedCall): PreparedCall => ({ ...known, disconnect: policy });

    test(`${policy}: an attempt whose client disconnects is the last of its call, and is free without a result`, async () => {
      const call = await startAttempts(['a', 'b'], { enrich });
      call.response.close();
      call.refuse(503);
      await call.settle(60_000);
      assert.equal(call.wire(), 'a');
      assert.deepEqual(
        call.entries.map(({ end, charge, disconnect }) => [end, charge.amountNanoUsd, disconnect?.policy]),
        [['failed', 0n, policy]],
      );
      assert.equal(call.gateway.drainSlots?.taken, 0);
    });

    test(`${policy}: the client disconnects during the second attempt, which is charged by the policy and names the first`, async () => {
      const call = await startAttempts(['a', 'b'], { enrich });
      call.refuse(503);
      await call.settle();
      call.answer(200);
      call.data(opening + content);
      call.response.close();
      assert.equal(call.sent.at(-1)?.aborted, policy !== 'drain');
      call.data(ending);
      call.end();
      await call.settle();
      assert.equal(call.wire(), 'a b');
      const [entry, ...others] = call.entries;
      assert.deepEqual(others, []);
      assert.deepEqual([entry?.end, entry?.failedAttempts?.length], ['client-left', 1]);
      assert.deepEqual([entry?.disconnect?.policy, entry?.disconnect?.usageReported], [policy, policy === 'drain']);
      assert.deepEqual(
        [entry?.usage.inputTokens, entry?.usage.outputTokens, entry?.estimated],
        policy === 'drain' ? [5, 1, false] : [2, 1, true],
      );
    });
  }

  test('at a shutdown the client learns the reason', async () => {
    const call = await startAttempts(['a']);
    call.refuse(503);
    call.attempts.terminate(new GatewayError('shutting_down', 'stop'));
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.entries.length, 1);
    assert.match(call.response.text(), /stop/);
  });

  test('if the books fail, the failure of the former attempt is the answer', async () => {
    const call = await startAttempts(['a', 'b'], { refusesOpening: (attempt) => attempt === 2 });
    call.refuse(529);
    await call.settle();
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 529);
    assert.equal(call.entries.length, 1);
    assert.equal(call.entries[0]?.upstream, 'a');
  });

  test('if another target refuses a request that the first would accept, the first failure is the answer', async () => {
    const call = await startAttempts();
    call.refuse(503);
    await call.settle();
    call.refuse(400);
    await call.settle();
    assert.equal(call.response.status, 503);
    assert.equal(call.entries.length, 1);
  });
});

test('in any order of events a call is settled once, answered once, and sent at most three times', async () => {
  const step = fc.constantFrom('reset', '503', '429', '401', '400', 'open', 'content', 'end', 'leave', 'wait', 'tick', 'error', 'stop');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 3 }), async (steps, count) => {
      const call = await startAttempts(['a', 'b', 'c'].slice(0, count));
      const live = (): boolean => !call.response.writableEnded && !call.response.destroyed;
      let opened = 0;
      for (const each of steps) {
        const isFresh = opened < call.sent.length;
        if (each === 'leave') call.response.close();
        else if (each === 'stop') call.attempts.terminate(new GatewayError('shutting_down', 'stop'));
        else if (each === 'wait') await call.settle(20_000);
        else if (each === 'tick') await call.settle(1);
        else if (!live()) continue;
        else if (each === 'reset') call.breakOff('ECONNRESET');
        else if (/^\d/.test(each) && isFresh) call.refuse(Number(each));
        else if (each === 'open' && isFresh) {
          opened = call.sent.length;
          call.answer(200);
          call.data(opening);
        } else if (!isFresh && each === 'content') call.data(content);
        else if (!isFresh && each === 'error') call.data('data: {"error":{"message":"busy","code":503}}\n\n');
        else if (!isFresh && each === 'end') call.end();
        await call.settle();
      }
      call.response.close();
      await call.settle(4_000_000);
      assert.equal(call.entries.length, 1);
      assert.ok(call.sent.length <= 3, call.wire());
      const heads = call.happened.filter((each) => each.startsWith('head')).length;
      assert.ok(heads <= 1);
    }),
    { numRuns: 300 },
  );
});

for (const [may, wire] of [
  [true, 'a b'],
  [false, 'a'],
] as const)
  test(`a call to a target that has stalled ${may ? 'moves on' : 'waits on where no other attempt may follow'}`, async () => {
    const call = await startAttempts(['a', 'b'], { mayFollow: () => may });
    const stalled = call.gateway.health.of(subjectOf(createTarget('a', [])));
    for (let times = 0; times < 10; times += 1) stalled.begin();
    await call.settle(11_000);
    await call.settle();
    assert.equal(call.wire(), wire);
    assert.equal(call.sent[0]?.aborted, may);
  });

test('a call ends with a failure that no other attempt may follow', async () => {
  const asked: string[] = [];
  const call = await startAttempts(['a', 'b'], {
    mayFollow: ({ code }, failed, next) => {
      asked.push(`${code} ${failed.upstream.id} ${next.upstream.id}`);
      return false;
    },
  });
  call.refuse(500);
  await call.settle();
  assert.equal(call.wire(), 'a');
  assert.equal(call.entries.at(-1)?.end, 'failed');
  assert.ok(asked.includes('upstream_error a b'), asked.join());
});
