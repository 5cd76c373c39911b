import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';

import type { Proof } from '../../../../inference/proof.ts';
import { createTurn, setUpVault } from './testing/fake-vault.ts';
import type { VaultedTurn } from './vaulted-turn.ts';

const hourMs = 3_600_000;

test('a remembered turn is recalled at once by any of its calls, without the store', async (context) => {
  const { vault, store } = setUpVault(context);
  const turn = createTurn(['call_1', 'call_2']);
  vault.remember('alice', turn);
  assert.deepEqual(
    await vault.recall('alice', ['call_2', 'call_1']),
    new Map([
      ['call_2', turn],
      ['call_1', turn],
    ]),
  );
  assert.deepEqual(store.calls, { put: 0, find: 0, sweep: 0 }, 'the store was not used');
});

test('restart: a written turn is recalled whole from the store, also by a later call', async (context) => {
  const { vault, open, pass } = setUpVault(context);
  const turn = createTurn(['call_1', 'call_2', 'call_3']);
  vault.remember('alice', turn);
  await pass(20);
  assert.deepEqual(await open().recall('alice', ['call_3']), new Map([['call_3', turn]]));
  assert.deepEqual((await open().recall('alice', ['call_1', 'call_2', 'unknown'])).size, 2);
});

test('all texts, proofs and ids are recalled unchanged, from memory and from the store', async (context) => {
  const { vault, open } = setUpVault(context);
  // Any UTF-16 code unit, lone surrogates too. The library's own "binary" takes a second to set up.
  const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code));
  const text = fc.oneof(fc.string({ unit, maxLength: 40 }), fc.constantFrom('\ud800', '\0', '"\\\u2028', ''));
  const proof: fc.Arbitrary<Proof> = fc.record(
    { origin: text, blob: text, hidden: fc.boolean() },
    { requiredKeys: ['origin', 'blob'], noNullPrototype: true },
  );
  const part = fc.record(
    { kind: fc.constant('reasoning' as const), text: fc.array(text, { maxLength: 3 }), proof, itemId: text },
    { requiredKeys: ['kind', 'text'], noNullPrototype: true },
  );
  const turns = fc.record({
    userName: text,
    callIds: fc.uniqueArray(text, { minLength: 1, maxLength: 4 }),
    reasoning: fc.array(part, { maxLength: 3 }),
    callProof: proof,
  });
  await fc.assert(
    fc.asyncProperty(turns, async ({ userName, callIds, reasoning, callProof }) => {
      const turn: VaultedTurn = { callIds, reasoning, callProofs: new Map([[callIds[0] ?? '', callProof]]) };
      const expected = new Map(callIds.map((callId) => [callId, turn]));
      const writing = open();
      writing.remember(userName, turn);
      assert.deepEqual(await writing.recall(userName, callIds), expected);
      await writing.close();
      assert.deepEqual(await open().recall(userName, callIds), expected);
    }),
    { numRuns: 50 },
  );
  await vault.close();
});

test('another tenant: nobody recalls a turn of another user, from memory or from the store', async (context) => {
  const { vault, open, pass } = setUpVault(context);
  vault.remember('alice', createTurn(['call_1']));
  vault.remember('ab', createTurn(['c']));
  await pass(20);
  const others = [
    ['bob', 'call_1'],
    ['Alice', 'call_1'],
    ['alic', 'ecall_1'],
    ['', 'alicecall_1'],
    ['a', 'bc'],
    ['abc', ''],
  ] as const;
  for (const each of [vault, open()]) {
    for (const [userName, callId] of others) assert.equal((await each.recall(userName, [callId])).size, 0, `${userName} ${callId}`);
  }
});

test('swapped rows: a row that was moved under another name in the database is not accepted', async (context) => {
  const { vault, store, open, pass } = setUpVault(context);
  vault.remember('alice', createTurn(['call_1']));
  vault.remember('mallory', createTurn(['call_9'], 'bWFsbG9yeQ=='));
  await pass(20);
  const [first, second] = [...store.rows.values()];
  assert.ok(first !== undefined && second !== undefined);
  store.rows.set(first.lookup, { ...second, lookup: first.lookup });
  store.rows.set(second.lookup, { ...first, lookup: second.lookup });
  assert.equal((await open().recall('mallory', ['call_9'])).size, 0);
  assert.equal((await open().recall('alice', ['call_1'])).size, 0);
});

test('another key finds nothing, and the store has nothing of a turn in clear', async (context) => {
  const { vault, store, open, pass } = setUpVault(context);
  vault.remember('alice-the-user', createTurn(['call_secret_id'], 'secret-blob'));
  await pass(20);
  const stored = JSON.stringify([...store.rows.values()]);
  const clear = [...store.rows.values()].map((row) => Buffer.from(row.sealed, 'base64').toString('latin1')).join('');
  for (const secret of ['alice-the-user', 'call_secret_id', 'secret-blob', 'First.', 'anthropic']) {
    assert.ok(!stored.includes(secret) && !clear.includes(secret), secret);
  }
  assert.equal((await open({ key: randomBytes(32) }).recall('alice-the-user', ['call_secret_id'])).size, 0);
});

test('a turn is kept for its time after its last use, in memory and in the store, and is then deleted', async (context) => {
  const { vault, store, open, pass } = setUpVault(context, { keptMs: 24 * hourMs });
  vault.remember('alice', createTurn(['call_1']));
  vault.remember('alice', createTurn(['unused']));
  await pass(13 * hourMs);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 1);
  await pass(13 * hourMs);
  assert.equal((await open().recall('alice', ['call_1'])).size, 1, 'its use renewed it in the store');
  for (const each of [vault, open()]) assert.equal((await each.recall('alice', ['unused'])).size, 0);
  assert.equal(store.rows.size, 1, 'the unused turn was deleted');
  await pass(25 * hourMs);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 0);
  assert.equal(store.rows.size, 0);
});

test('reused ids: the later turn replaces the earlier one, in memory and in the store', async (context) => {
  const { vault, open, pass } = setUpVault(context);
  vault.remember('alice', createTurn(['call_0', 'call_1'], 'b2xk'));
  await pass(20);
  const later = createTurn(['call_0'], 'bmV3');
  vault.remember('alice', later);
  await pass(20);
  for (const each of [vault, open()]) assert.deepEqual((await each.recall('alice', ['call_0'])).get('call_0'), later);
  assert.equal((await open().recall('alice', ['call_1'])).size, 0, 'a call does not get a turn of which it is not part');
});

test('a turn without any proof is not stored, and the store is not queried for it', async (context) => {
  const { vault, store, pass } = setUpVault(context);
  vault.remember('alice', { callIds: ['call_1'], reasoning: [{ kind: 'reasoning', text: ['thought'] }], callProofs: new Map() });
  await pass(20);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 0);
  assert.deepEqual(store.calls, { put: 0, find: 0, sweep: 0 });
});

test('an id that is not in the store is queried again only after a while', async (context) => {
  const { vault, store, open, pass } = setUpVault(context, { absentMs: 5000 });
  await vault.recall('alice', ['call_1']);
  await vault.recall('alice', ['call_1']);
  assert.equal(store.calls.find, 1);
  open().remember('alice', createTurn(['call_1']));
  await pass(5000);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 1, 'the turn that another gateway wrote is found');
});

test('a turn that is remembered during a query is not replaced by the older answer', async (context) => {
  const { vault, store } = setUpVault(context);
  const turn = createTurn(['call_1']);
  store.beforeFound = () => vault.remember('alice', turn);
  assert.deepEqual((await vault.recall('alice', ['call_1'])).get('call_1'), turn);
  assert.deepEqual((await vault.recall('alice', ['call_1'])).get('call_1'), turn);
});

test('a long history: only its last calls are queried, newest first', async (context) => {
  const { vault, open, pass } = setUpVault(context, { recalledIdsMax: 3, recalledBytesMax: 1 });
  const ids = ['1', '2', '3', '4'];
  for (const id of ids) vault.remember('alice', createTurn([id]));
  assert.deepEqual([...(await vault.recall('alice', ids)).keys()], ['2', '3', '4']);
  await pass(20);
  assert.deepEqual([...(await open().recall('alice', ids)).keys()], ['4'], 'reading ends with the byte limit');
});
