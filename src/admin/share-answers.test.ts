import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shareAnswer } from './share-answers.ts';

test('the same question gets the answer that is awaited, and other questions and givers are asked for themselves', async () => {
  const [giver, asked] = [{}, [] as string[]];
  const ask = (question: string, of: object = giver) =>
    shareAnswer(
      of,
      question,
      async () => asked.push(question),
      () => 0,
    );
  assert.deepEqual(await Promise.all([ask('a'), ask('a'), ask('b'), ask('a', {})]), [1, 1, 2, 3]);
  assert.equal(await ask('a'), 4, 'it is not kept');
});

test('an answer is kept for as long as was said, by the time that it took', async () => {
  const giver = {};
  let count = 0;
  const ask = (keepMs: number) =>
    shareAnswer(
      giver,
      'a',
      async () => (count += 1),
      (tookMs) => (assert.ok(tookMs >= 0), keepMs),
    );
  assert.deepEqual([await ask(60_000), await ask(0), await ask(0)], [1, 1, 1]);
});

test('a failure is for those who wait, and the next one asks again', async () => {
  const giver = {};
  let isAway = true;
  const ask = () =>
    shareAnswer(
      giver,
      'a',
      async () => (isAway ? Promise.reject(new Error('away')) : 'here'),
      () => 60_000,
    );
  await Promise.all([assert.rejects(ask(), /away/), assert.rejects(ask(), /away/)]);
  isAway = false;
  assert.equal(await ask(), 'here');
});
