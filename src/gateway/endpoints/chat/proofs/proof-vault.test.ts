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
  assert.deepEqual(store.calls, { put: 0, find: 0, sweep: 0 }, 'nothing was waited for');
});

test('restart: what was written comes back whole from the store, also by a call that is not the first', async (context) => {
  const { vault, open, pass } = setUpVault(context);
  const turn = createTurn(['call_1', 'call_2', 'call_3']);
  vault.remember('alice', turn);
  await pass(20);
  assert.deepEqual(await open().recall('alice', ['call_3']), new Map([['call_3', turn]]));
  assert.deepEqual((await open().recall('alice', ['call_1', 'call_2', 'unknown'])).size, 2);
});

test('any texts, proofs and ids come back as they were, from memory and from the store', async (context) => {
  const { vault, open } = setUpVault(context);
  // Any UTF-16 code unit, half surrogate pairs too. The library's own "binary" takes a second to set up.
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

test('another tenant: nobody recalls a turn of someone else, from memory or from the store', async (context) => {
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
  for (const asked of [vault, open()]) {
    for (const [userName, callId] of others) assert.equal((await asked.recall(userName, [callId])).size, 0, `${userName} ${callId}`);
  }
});

test('swapped rows: a row that someone moved under another name in the database is not accepted', async (context) => {
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

test('another key finds nothing, and nothing of a turn is in clear in the store', async (context) => {
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

test('a turn is kept for its time after its last use, in memory and in the store, and then swept away', async (context) => {
  const { vault, store, open, pass } = setUpVault(context, { keptMs: 24 * hourMs });
  vault.remember('alice', createTurn(['call_1']));
  vault.remember('alice', createTurn(['unused']));
  await pass(13 * hourMs);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 1);
  await pass(13 * hourMs);
  assert.equal((await open().recall('alice', ['call_1'])).size, 1, 'its use renewed it in the store');
  for (const asked of [vault, open()]) assert.equal((await asked.recall('alice', ['unused'])).size, 0);
  assert.equal(store.rows.size, 1, 'the unused one was swept');
  await pass(25 * hourMs);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 0);
  assert.equal(store.rows.size, 0);
});

test('reused ids: the later turn wins, in memory and in the store', async (context) => {
  const { vault, open, pass } = setUpVault(context);
  vault.remember('alice', createTurn(['call_0', 'call_1'], 'b2xk'));
  await pass(20);
  const later = createTurn(['call_0'], 'bmV3');
  vault.remember('alice', later);
  await pass(20);
  for (const asked of [vault, open()]) assert.deepEqual((await asked.recall('alice', ['call_0'])).get('call_0'), later);
  assert.equal((await open().recall('alice', ['call_1'])).size, 0, 'a call is not given a turn that it is no part of');
});

test('without any proof there is nothing to keep, and the store is not asked for it', async (context) => {
  const { vault, store, pass } = setUpVault(context);
  vault.remember('alice', { callIds: ['call_1'], reasoning: [{ kind: 'reasoning', text: ['thought'] }], callProofs: new Map() });
  await pass(20);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 0);
  assert.deepEqual(store.calls, { put: 0, find: 0, sweep: 0 });
});

test('an id that the store does not know is asked for again only after a while', async (context) => {
  const { vault, store, open, pass } = setUpVault(context, { absentMs: 5000 });
  await vault.recall('alice', ['call_1']);
  await vault.recall('alice', ['call_1']);
  assert.equal(store.calls.find, 1);
  open().remember('alice', createTurn(['call_1']));
  await pass(5000);
  assert.equal((await vault.recall('alice', ['call_1'])).size, 1, 'what another gateway wrote is found');
});

test('a turn that is remembered while the store is asked is not lost to the store’s older answer', async (context) => {
  const { vault, store } = setUpVault(context);
  const turn = createTurn(['call_1']);
  store.beforeFound = () => vault.remember('alice', turn);
  assert.deepEqual((await vault.recall('alice', ['call_1'])).get('call_1'), turn);
  assert.deepEqual((await vault.recall('alice', ['call_1'])).get('call_1'), turn);
});

test('a long history: only its last calls are looked for, newest first', async (context) => {
  const { vault, open, pass } = setUpVault(context, { recalledIdsMax: 3, recalledBytesMax: 1 });
  const ids = ['1', '2', '3', '4'];
  for (const id of ids) vault.remember('alice', createTurn([id]));
  assert.deepEqual([...(await vault.recall('alice', ids)).keys()], ['2', '3', '4']);
  await pass(20);
  assert.deepEqual([...(await open().recall('alice', ids)).keys()], ['4'], 'reading ends with the byte limit');
});
