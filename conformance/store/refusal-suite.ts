import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Refusal } from '../../src/audit/refusals/refusal.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const unknown = (atMs: number): Refusal => ({
  atMs,
  code: 'invalid_api_key',
  status: 401,
  message: 'invalid API key',
  address: '192.0.2.7',
  interface: 'openai-chat',
  path: '/v1/chat/completions',
  requestId: `req_${atMs}`,
});
const known = (atMs: number, userName: string): Refusal => ({
  ...unknown(atMs),
  code: 'rate_limited',
  status: 429,
  keyId: `key-${userName}`,
  userName,
  keyName: 'ci',
  model: 'gpt-5',
});

/** The contract of every store for the refusal log. */
export function refusalSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('refusals are listed newest first, page by page, by any of their facts, and only to those who may see them', async () => {
    const store = engine().store();
    const rows = [unknown(1000), known(1001, 'ann'), known(1002, 'bob'), known(1003, 'ann'), unknown(1004)];
    await store.addRefusals(rows);
    const list = async (filter: object) =>
      (await store.listRefusals({ users: 'all', limit: 10, ...filter })).map(({ sequence, ...row }) => {
        assert.ok(sequence > 0);
        return row;
      });
    assert.deepEqual(await list({}), rows.toReversed());
    const [first, second] = await store.listRefusals({ users: 'all', limit: 2 });
    assert.deepEqual([first?.atMs, second?.atMs], [1004, 1003]);
    assert.deepEqual(
      (await list({ before: second?.sequence })).map(({ atMs }) => atMs),
      [1002, 1001, 1000],
    );
    const times = async (filter: object) => (await list(filter)).map(({ atMs }) => atMs);
    assert.deepEqual(await times({ users: ['ann', 'eve'] }), [1003, 1001]);
    assert.deepEqual(await times({ users: ['ann'], userName: 'bob' }), []);
    assert.deepEqual(await times({ users: [] }), []);
    assert.deepEqual(await times({ userName: 'bob' }), [1002]);
    assert.deepEqual(await times({ keyId: 'key-ann', fromMs: 1002 }), [1003]);
    assert.deepEqual(await times({ code: 'invalid_api_key', toMs: 1004 }), [1000]);
    assert.deepEqual(await times({ status: 429, requestId: 'req_1001' }), [1001]);
  });

  test('a sweep removes what is old and what is too much, oldest first and in steps', async () => {
    const store = engine().store();
    await store.addRefusals(Array.from({ length: 20 }, (_, index) => unknown(2000 + index)));
    const left = async () => (await store.listRefusals({ users: 'all', limit: 100 })).map(({ atMs }) => atMs);
    assert.equal(await store.sweepRefusals({ beforeMs: 2003, rowsMax: 1000, atOnce: 2 }), 2);
    while ((await store.sweepRefusals({ beforeMs: 2003, rowsMax: 1000, atOnce: 2 })) > 0);
    assert.deepEqual([(await left()).length, (await left()).at(-1)], [17, 2003]);
    assert.equal(await store.sweepRefusals({ beforeMs: 0, rowsMax: 5, atOnce: 100 }), 12);
    assert.deepEqual(await left(), [2019, 2018, 2017, 2016, 2015]);
  });
}
