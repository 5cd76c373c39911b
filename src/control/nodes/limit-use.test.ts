import assert from 'node:assert/strict';
import { test } from 'node:test';

import { askLimitUse } from './ask-limit-use.ts';
import { joinLimitUse, type LimitAnswer, type LimitOwner, type LimitUse } from './limit-use.ts';

const key: LimitOwner = { scope: 'key', id: 'k' };
const user: LimitOwner = { scope: 'user', id: 'u' };
const model: LimitOwner = { scope: 'model', id: 'fast' };
const use = (owner: LimitOwner, more: Partial<LimitUse> = {}): LimitUse => ({ ...owner, requests: 0, tokens: 0, concurrency: 0, ...more });

test('of several gateways the one with the most use counts, and its time', () => {
  const known = [{ ...key, of: 'requests', limit: 60 } as const, { ...key, of: 'concurrency', limit: 4 } as const];
  const answers = [
    [use(key, { requests: 5, requestsFreeInMs: 900, concurrency: 3 })],
    [use(user, { requests: 99 }), use(key, { requests: 7, requestsFreeInMs: 400, concurrency: 1 })],
  ];
  assert.deepEqual(joinLimitUse([key], known, { answers, silent: 0 }), [
    { scope: 'key', of: 'requests', limit: 60, used: 7, freeInMs: 400 },
    { scope: 'key', of: 'concurrency', limit: 4, used: 3 },
  ]);
});

test('with a silent gateway, or with none, the used part is unknown and not zero', () => {
  const known = [{ ...key, of: 'requests', limit: 60 } as const];
  const unknown = [{ scope: 'key', of: 'requests', limit: 60 }];
  assert.deepEqual(joinLimitUse([key], known, { answers: [[use(key, { requests: 5 })]], silent: 1 }), unknown);
  assert.deepEqual(joinLimitUse([key], known, { answers: [], silent: 0 }), unknown);
  assert.deepEqual(joinLimitUse([key], known, { answers: [[use(key)]], silent: 0 }), [{ ...unknown[0], used: 0 }]);
});

test("limits of configurations are listed, the lowest of several gateways, and a key's own limits come before them", () => {
  const known = [{ ...key, of: 'requests', limit: 60 } as const];
  const configured = { requestsPerMinute: 10, tokensPerMinute: 5000 };
  const answers = [
    [use(key, { limits: configured, tokens: 8 }), use(model, { limits: { concurrency: 9 } })],
    [use(key, { limits: { tokensPerMinute: 4000 } }), use(model)],
  ];
  assert.deepEqual(
    joinLimitUse([key, user, model], known, { answers, silent: 0 }).map(({ scope, of, limit, used }) => [scope, of, limit, used]),
    [
      ['key', 'requests', 60, 0],
      ['key', 'tokens', 4000, 8],
      ['model', 'concurrency', 9, 0],
    ],
  );
});

/** A store of two gateways that answer question 3 at these looks; never if undefined. */
function storeOf(...answersAt: readonly (number | undefined)[]) {
  let looks = 0;
  const stale: LimitAnswer = { answered: 2, uses: [use(key, { requests: 1 })] };
  return {
    looks: () => looks,
    askLimitUse: async () => 3,
    listControlReports: async () => {
      looks += 1;
      return answersAt.map((at, index) => ({
        nodeId: `n/${index}`,
        atMs: 0,
        // Only the answer is read.
        report: { limits: at !== undefined && looks >= at ? { ...stale, answered: 3 } : stale } as never,
      }));
    },
  };
}
const signal = new AbortController().signal;
/** A clock on which each look takes 400 ms. */
const clockOf = (store: { readonly looks: () => number }) => ({ nowMs: () => 0, monotonicMs: () => store.looks() * 400 });

test('the wait ends when all gateways have answered this question, or when its time is over', async () => {
  const quick = storeOf(1, 2);
  assert.deepEqual(await askLimitUse(quick, [key], { clock: clockOf(quick), waitMs: 2500, signal }), {
    answers: [[use(key, { requests: 1 })], [use(key, { requests: 1 })]],
    silent: 0,
  });
  assert.equal(quick.looks(), 2);
  const silent = storeOf(1, undefined);
  const { answers, silent: missing } = await askLimitUse(silent, [key], { clock: clockOf(silent), waitMs: 800, signal });
  assert.deepEqual([answers.length, missing, silent.looks()], [1, 1, 2]);
});

test('the wait ends with its signal', async () => {
  const store = storeOf(undefined);
  const leaving = new AbortController();
  const asking = askLimitUse(store, [key], { clock: { nowMs: () => 0, monotonicMs: () => 0 }, waitMs: 2500, signal: leaving.signal });
  leaving.abort(new Error('the caller left'));
  await assert.rejects(asking, /the caller left|aborted/);
});
