import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createTurn, setUpVault } from './testing/fake-vault.ts';

test('store-down: calls are not affected, the outage is logged once, and waiting turns are written when it ends', async (context) => {
  const { vault, store, logged, open, pass } = setUpVault(context);
  store.mode = 'down';
  for (const id of ['1', '2', '3']) {
    vault.remember('alice', createTurn([id]));
    await pass(1000);
    assert.equal((await vault.recall('alice', [id])).size, 1);
    assert.equal((await vault.recall('alice', ['not in memory'])).size, 0);
  }
  assert.deepEqual(logged.length, 1);
  assert.match(logged[0] ?? '', /^error: reasoning proof store failed/);
  store.mode = 'up';
  await pass(1000);
  assert.deepEqual(logged.slice(1), ['info: reasoning proof store recovered']);
  assert.equal((await open().recall('alice', ['1', '2', '3'])).size, 3);
});

test('store-hanging: the first call waits for its limit, and the next ones do not wait at all', async (context) => {
  const { vault, store, pass } = setUpVault(context, { storeTimeoutMs: 1000, retryMs: 1000 });
  store.mode = 'hanging';
  const waiting = vault.recall('alice', ['call_1']);
  await pass(1000);
  assert.equal((await waiting).size, 0);
  const queries = store.calls.find;
  assert.equal((await vault.recall('alice', ['call_1'])).size, 0);
  assert.equal(store.calls.find, queries);
  store.mode = 'up';
  await pass(1000);
  await vault.recall('alice', ['call_1']);
  assert.equal(store.calls.find, queries + 1, 'after a while it is queried again');
});

test('queue-full: the oldest turns are dropped, which is logged once, and the newest are stored', async (context) => {
  const { vault, store, logged, open, pass } = setUpVault(context, { queueBytesMax: 5000 });
  store.mode = 'down';
  const ids = Array.from({ length: 50 }, (_, index) => `call_${index}`);
  for (const id of ids) vault.remember('alice', createTurn([id]));
  await pass(1000);
  store.mode = 'up';
  await pass(1000);
  const stored = [...(await open().recall('alice', ids)).keys()];
  assert.ok(stored.length > 2 && stored.length < 12, `${stored.length} fit`);
  assert.deepEqual(stored, ids.slice(-stored.length));
  assert.equal(logged.filter((line) => line.includes('reasoning proofs discarded because of a full queue')).length, 1);
  assert.equal((await vault.recall('alice', ids)).size, 50, 'memory has them all');
});

test('memory-full: the least recently used turns leave memory and are read from the store', async (context) => {
  const { vault, store, pass } = setUpVault(context, { memoryBytesMax: 5000 });
  const ids = Array.from({ length: 50 }, (_, index) => `call_${index}`);
  for (const id of ids) {
    vault.remember('alice', createTurn([id]));
    assert.equal((await vault.recall('alice', ['call_0'])).size, 1, 'a turn in use stays');
  }
  assert.equal(store.calls.find, 0);
  await pass(20);
  assert.equal((await vault.recall('alice', ['call_1', 'call_49'])).size, 2);
  assert.equal(store.calls.find, 1);
});

test('a turn that is too large is not kept, which is logged', async (context) => {
  const { vault, store, logged, pass } = setUpVault(context, { turnBytesMax: 1000 });
  vault.remember('alice', createTurn(['call_1'], 'x'.repeat(1000)));
  await pass(20);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 0);
  assert.equal(store.rows.size, 0);
  assert.deepEqual(logged, ['warn: reasoning proofs discarded because of their size']);
});

test('many turns at once are written in few batches, each call once and the proofs of a turn once', async (context) => {
  const { vault, store, pass } = setUpVault(context);
  const blob = 'x'.repeat(10_000);
  for (let turn = 0; turn < 100; turn += 1) {
    vault.remember(
      'alice',
      createTurn(
        Array.from({ length: 4 }, (_, call) => `${turn}/${call}`),
        blob,
      ),
    );
  }
  await pass(20);
  assert.equal(store.rows.size, 400);
  assert.ok(store.calls.put <= 8, `${store.calls.put} batches`);
  const bytes = [...store.rows.values()].reduce((sum, row) => sum + row.sealed.length, 0);
  assert.ok(bytes < 100 * 4 * 10_000, `${bytes} bytes: the calls of a turn share its proofs`);
});

test('closing writes the waiting turns, stops waiting for a hanging store, and leaves no timer', async (context) => {
  const { vault, store, logged, open, pass } = setUpVault(context, { closeTimeoutMs: 5000 });
  vault.remember('alice', createTurn(['call_1']));
  await vault.close();
  assert.equal((await open().recall('alice', ['call_1'])).size, 1);
  vault.remember('alice', createTurn(['call_2']));
  await pass(120_000);
  assert.equal(store.rows.size, 1, 'a closed vault writes no more');

  const stuck = open();
  stuck.remember('alice', createTurn(['call_3']));
  store.mode = 'hanging';
  const closing = stuck.close();
  await pass(5000);
  await closing;
  assert.match(logged.at(-1) ?? '', /^warn: writing reasoning proofs at shutdown failed/);
});
