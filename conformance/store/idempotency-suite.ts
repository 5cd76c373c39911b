import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { IdempotencyStore, KeyClaim } from '../../src/billing/idempotency/idempotency-store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
const text = (found: Uint8Array | undefined): string | undefined => (found === undefined ? undefined : Buffer.from(found).toString());

const createClaim = (key: string, more: Partial<KeyClaim> = {}): KeyClaim => ({
  keyId: 'key_1',
  key,
  bodyHash: 'hash',
  requestId: `req_${key}`,
  owner: 'process_1',
  createdAtMs: 1000,
  expiresAtMs: 2000,
  leaseUntilMs: 1500,
  ...more,
});

/** The behaviour of every engine, and of the one in memory, for idempotency keys. */
export function idempotencyRules(store: () => IdempotencyStore): void {
  test('the first request claims the key; all others learn the owner', async () => {
    const claim = createClaim('first');
    const claims = Array.from({ length: 20 }, (_, index) => ({ ...claim, requestId: `req_first_${index}` }));
    const found = await Promise.all(claims.map((each) => store().claimIdempotencyKey(each)));
    const winners = claims.filter((_, index) => found[index] === undefined);
    assert.equal(winners.length, 1);
    const holder = { state: 'open', bodyHash: 'hash', requestId: winners[0]?.requestId, createdAtMs: 1000, leaseUntilMs: 1500 };
    for (const each of found) if (each !== undefined) assert.deepEqual(each, holder);
    assert.equal(await store().claimIdempotencyKey({ ...claim, keyId: 'key_2', requestId: 'req_other' }), undefined, 'of another API key');
  });

  test('an answer is found by its parts, in any order, and only under its own key', async () => {
    const claim = createClaim('kept');
    await store().claimIdempotencyKey(claim);
    await store().addReplyChunks(claim, [{ sequence: 0, sealed: bytes('a') }]);
    assert.equal(await store().readReplyChunk(claim, 0), undefined, 'not before its end');
    const last = [
      { sequence: 1, sealed: bytes('b') },
      { sequence: 2, sealed: bytes('') },
    ];
    assert.equal(await store().closeIdempotencyKey({ ...claim, kept: { head: bytes('head'), chunks: 3 }, last }), true);
    const holder = await store().claimIdempotencyKey({ ...claim, requestId: 'req_again' });
    assert.ok(holder?.state === 'kept');
    assert.deepEqual([text(holder.head), holder.chunks, holder.requestId], ['head', 3, 'req_kept']);
    const parts = await Promise.all([2, 1, 0, 3].map((sequence) => store().readReplyChunk(claim, sequence)));
    assert.deepEqual(parts.map(text), ['', 'b', 'a', undefined]);
    assert.equal(await store().readReplyChunk({ ...claim, keyId: 'key_2' }, 0), undefined);
  });

  test('stored replies are measured by API key, and dead processes of one place are listed without the others', async () => {
    for (const [key, keyId, size] of [
      ['m1', 'measured_1', 10],
      ['m2', 'measured_1', 5],
      ['m3', 'measured_2', 7],
    ] as const) {
      const claim = createClaim(key, { keyId });
      await store().claimIdempotencyKey(claim);
      const last = [{ sequence: 0, sealed: new Uint8Array(size) }];
      await store().closeIdempotencyKey({ ...claim, kept: { head: bytes('head'), chunks: 1 }, last });
    }
    const measured = new Map((await store().measureReplies()).map(({ keyId, bytes: count }) => [keyId, count]));
    assert.deepEqual([measured.get('measured_1'), measured.get('measured_2')], [15, 7]);
    for (const [key, owner] of [
      ['dead', 'node/0 a'],
      ['self', 'node/0 b'],
      ['other', 'node/01 a'],
    ] as const)
      await store().claimIdempotencyKey(createClaim(key, { owner }));
    await store().endIdempotencyLeases({ ownerPrefix: 'node/0 ', except: 'node/0 b' });
    const leases = await Promise.all(
      ['dead', 'self', 'other'].map(async (key) => {
        const holder = await store().claimIdempotencyKey(createClaim(key, { requestId: 'req_again' }));
        return holder?.state === 'open' ? holder.leaseUntilMs : undefined;
      }),
    );
    assert.deepEqual(leases, [0, 1500, 1500]);
  });

  test('an ended claim does not end again, and nothing is added to it', async () => {
    const claim = createClaim('ended');
    await store().claimIdempotencyKey(claim);
    const ending = { ...claim, kept: { head: bytes('head'), chunks: 0 }, last: [] };
    assert.equal(await store().closeIdempotencyKey({ ...ending, requestId: 'req_another' }), false);
    assert.equal(await store().closeIdempotencyKey(ending), true);
    assert.equal(await store().closeIdempotencyKey({ ...ending, kept: undefined }), false);
    await store().releaseIdempotencyKey(claim);
    await store().addReplyChunks(claim, [{ sequence: 7, sealed: bytes('late') }]);
    assert.equal((await store().claimIdempotencyKey(claim))?.state, 'kept');
    assert.equal(await store().readReplyChunk(claim, 7), undefined);
  });

  test('a released key is free, and its parts are deleted', async () => {
    const claim = createClaim('released');
    await store().claimIdempotencyKey(claim);
    await store().addReplyChunks(claim, [{ sequence: 0, sealed: bytes('a') }]);
    await store().releaseIdempotencyKey({ ...claim, requestId: 'req_another' });
    assert.equal((await store().claimIdempotencyKey({ ...claim, requestId: 'req_next' }))?.state, 'open');
    await store().releaseIdempotencyKey(claim);
    assert.equal(await store().claimIdempotencyKey(claim), undefined);
    await store().closeIdempotencyKey({ ...claim, kept: { head: bytes('head'), chunks: 0 }, last: [] });
    assert.equal(await store().readReplyChunk(claim, 0), undefined);
  });

  test('a spent key stays spent and has no parts', async () => {
    const claim = createClaim('spent');
    await store().claimIdempotencyKey(claim);
    await store().addReplyChunks(claim, [{ sequence: 0, sealed: bytes('a') }]);
    assert.equal(await store().closeIdempotencyKey({ ...claim, kept: undefined, last: [] }), true);
    const holder = await store().claimIdempotencyKey({ ...claim, requestId: 'req_again' });
    assert.deepEqual(holder, { state: 'spent', bodyHash: 'hash', requestId: 'req_spent', createdAtMs: 1000 });
    assert.equal(await store().readReplyChunk(claim, 0), undefined);
  });

  test('a lease is renewed only for the claims of its process', async () => {
    const owner = 'process_lease';
    await store().claimIdempotencyKey(createClaim('lease', { owner }));
    await store().claimIdempotencyKey(createClaim('not-mine', { owner: 'process_other' }));
    await store().renewIdempotencyKeys({ owner, untilMs: 1900 });
    const leases = ['lease', 'not-mine'].map(async (key) => {
      const holder = await store().claimIdempotencyKey(createClaim(key));
      return holder?.state === 'open' ? holder.leaseUntilMs : undefined;
    });
    assert.deepEqual(await Promise.all(leases), [1900, 1500]);
  });

  test('an expired claim has no owner, swept or not', async () => {
    const claim = createClaim('old');
    await store().claimIdempotencyKey(claim);
    await store().closeIdempotencyKey({ ...claim, kept: { head: bytes('head'), chunks: 1 }, last: [{ sequence: 0, sealed: bytes('a') }] });
    assert.equal((await store().claimIdempotencyKey({ ...claim, createdAtMs: 1999 }))?.state, 'kept');
    const next = createClaim('old', { requestId: 'req_new', createdAtMs: 2000, expiresAtMs: 3000 });
    assert.equal(await store().claimIdempotencyKey(next), undefined);
    assert.equal(await store().readReplyChunk(claim, 0), undefined);
    let swept = 0;
    for (let pass = -1; pass !== 0; swept += pass) pass = await store().sweepIdempotencyKeys({ nowMs: 2999, rowsMax: 2 });
    assert.ok(swept >= 7, `${swept} remained from earlier tests`);
    assert.equal((await store().claimIdempotencyKey(next))?.requestId, 'req_new', 'a claim that has not expired is kept');
    assert.equal(await store().sweepIdempotencyKeys({ nowMs: 3000, rowsMax: 100 }), 1);
  });
}

/** The same for an engine, and the properties that only a database has. */
export function idempotencySuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  idempotencyRules(() => engine().store());

  let another: IdempotencyStore | undefined;
  before(async () => {
    another = await engine().openAnother();
  });
  after(() => {
    another = undefined;
  });

  test('of two simultaneous processes one has the key, and the other gets its answer after a restart too', async () => {
    const stores = [engine().store(), another ?? assert.fail('no other store')];
    const claims = stores.map((_, index) => createClaim('two', { requestId: `req_two_${index}`, owner: `process_${index}` }));
    const found = await Promise.all(claims.map(async (claim, index) => await stores[index]?.claimIdempotencyKey(claim)));
    const winner = found.indexOf(undefined);
    assert.notEqual(found[1 - winner], undefined);
    const claim = claims[winner] ?? assert.fail('it has no owner');
    const ending = { ...claim, kept: { head: bytes('head'), chunks: 1 }, last: [{ sequence: 0, sealed: bytes('answer') }] };
    await stores[winner]?.closeIdempotencyKey(ending);
    assert.equal(text(await stores[1 - winner]?.readReplyChunk(claim, 0)), 'answer');
    await engine().reopen();
    assert.equal(text(await engine().store().readReplyChunk(claim, 0)), 'answer');
  });
}
