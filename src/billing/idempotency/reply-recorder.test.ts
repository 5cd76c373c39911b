import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openReply } from './stored-reply.ts';
import { LocalKeys } from './local-keys.ts';
import { ReplyRecorder } from './reply-recorder.ts';
import { ReplyBudget } from './reply-budget.ts';
import { createReplySeal } from './reply-seal.ts';

const seal = createReplySeal(Buffer.alloc(32, 1));
const holder = { keyId: 'k', key: 'name', requestId: 'r' };
const head = { status: 200, headers: { a: 'b' } };
const chunkBytes = 256 * 1024;

/** A recorder, and the numbers and sizes of the chunks that its store received. */
function createWorld(options: { readonly bytesMax?: number; readonly write?: () => Promise<void> } = {}) {
  const stored: (readonly [number, number])[] = [];
  const sizeOf = (sequence: number, sealed: Uint8Array) => seal.open({ ...holder, part: sequence }, sealed)?.length ?? -1;
  const store = {
    addReplyChunks: async (_: unknown, chunks: readonly { sequence: number; sealed: Uint8Array }[]) => {
      stored.push(...chunks.map(({ sequence, sealed }) => [sequence, sizeOf(sequence, sealed)] as const));
      await options.write?.();
    },
  };
  const budget = new ReplyBudget(() => ({ totalBytesMax: Infinity, apiKeyBytesMax: Infinity }));
  return { stored, sizeOf, recorder: new ReplyRecorder({ store, seal, holder, budget, bytesMax: options.bytesMax ?? Infinity }) };
}

test('a body is stored in chunks of 256 KiB, and the rest is returned at its end', async () => {
  const { stored, sizeOf, recorder } = createWorld();
  recorder.add(Buffer.alloc(chunkBytes - 1));
  await recorder.whenRoom();
  assert.deepEqual(stored, []);
  recorder.add(Buffer.alloc(1));
  recorder.add(Buffer.alloc(2 * chunkBytes + 5));
  await recorder.whenRoom();
  assert.deepEqual(stored, [
    [0, chunkBytes],
    [1, chunkBytes],
    [2, chunkBytes],
    [3, 5],
  ]);
  recorder.add(Buffer.alloc(7));
  const finished = (await recorder.finish(head)) ?? assert.fail();
  assert.equal(finished.kept.chunks, 5);
  assert.deepEqual(
    finished.last.map(({ sequence, sealed }) => [sequence, sizeOf(sequence, sealed)]),
    [[4, 7]],
  );
});

test('a writer must pause when four chunks wait, and may continue after they are stored', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { recorder } = createWorld({ write: () => promise });
  assert.deepEqual(
    Array.from({ length: 4 }, () => recorder.add(Buffer.alloc(chunkBytes))),
    [true, true, true, false],
  );
  resolve();
  await recorder.whenRoom();
  assert.equal(recorder.add(Buffer.alloc(1)), true);
});

test('an answer that is too long is not stored any further, and cannot be repeated', async () => {
  const { stored, recorder } = createWorld({ bytesMax: chunkBytes + 10 });
  recorder.add(Buffer.alloc(chunkBytes - 1));
  assert.equal(recorder.add(Buffer.alloc(12)), true);
  recorder.add(Buffer.alloc(chunkBytes));
  assert.equal(await recorder.finish(head), undefined);
  assert.deepEqual(stored, []);
});

test('after a chunk that the store refused no other is stored, and the answer cannot be repeated', async () => {
  const { stored, recorder } = createWorld({ write: () => Promise.reject(new Error('full')) });
  for (let count = 0; count < 3; count += 1) recorder.add(Buffer.alloc(chunkBytes));
  assert.equal(await recorder.finish(head), undefined);
  assert.deepEqual(stored, [[0, chunkBytes]]);
});

test('a sealed part opens only at its own position, and different names have different hashes', () => {
  const place = { ...holder, part: 0 };
  const sealed = seal.seal(place, Buffer.from('x'));
  assert.equal(String(seal.open(place, sealed)), 'x');
  for (const other of [{ keyId: 'l' }, { key: 'other' }, { requestId: 's' }, { part: 1 }, { part: 'head' as const }])
    assert.equal(seal.open({ ...place, ...other }, sealed), undefined, JSON.stringify(other));
  assert.equal(seal.open({ ...place, keyId: 'kn', key: 'ame' }, sealed), undefined);
  const marks = [seal.nameOf('k', 'a'), seal.nameOf('l', 'a'), seal.nameOf('k', 'b'), seal.hashOf('k', Buffer.from('a'))];
  assert.equal(new Set([...marks, createReplySeal(Buffer.alloc(32, 2)).nameOf('k', 'a')]).size, 5);
  assert.equal(seal.nameOf('k', 'a'), marks[0]);
});

/** The result of openReply for a sealed head. */
function opened(value: unknown, chunks: readonly (Uint8Array | undefined | Error)[] = []) {
  const sealed = seal.seal({ ...holder, part: 'head' }, Buffer.from(JSON.stringify(value)));
  const keyState = { bodyHash: 'h', createdAtMs: 0, state: 'kept' as const };
  const readReplyChunk = async (_: unknown, part: number) => {
    const chunk = chunks[part];
    if (chunk instanceof Error) throw chunk;
    return chunk;
  };
  return openReply({ store: { readReplyChunk }, seal, holder: { ...holder, ...keyState, head: sealed, chunks: chunks.length } });
}

test('a head without status and headers is not an answer; a header that is not a string is omitted', () => {
  for (const value of [null, 5, [], {}, { status: 200 }, { status: '200', headers: {} }, { status: 200, headers: [] }])
    assert.throws(() => opened(value), { code: 'idempotency_spent' }, JSON.stringify(value));
  const { body: _, ...kept } = opened({ status: 201, headers: { a: 'b', c: 5 } });
  assert.deepEqual(kept, { status: 201, headers: { a: 'b' }, requestId: 'r' });
});

test('a body with a piece that is missing, misplaced or unreadable ends with an error', async () => {
  const piece = (part: number) => seal.seal({ ...holder, part }, Buffer.from(`${part}`));
  const read = async (chunks: readonly (Uint8Array | undefined | Error)[]) =>
    Buffer.concat(await Array.fromAsync(opened(head, chunks).body())).toString();
  assert.equal(await read([piece(0), piece(1)]), '01');
  await assert.rejects(read([piece(0), undefined]), { code: 'idempotency_spent' });
  await assert.rejects(read([piece(0), piece(0)]), { code: 'idempotency_spent' });
  await assert.rejects(read([piece(0), new Error('down')]), { code: 'idempotency_unavailable', internal: 'down' });
});

test('keys of a process are distinct, and the end of one wakes all its waiters', async () => {
  const keys = new LocalKeys();
  const name = { keyId: 'a', key: 'bc' };
  keys.take(name, 'hash');
  assert.equal(keys.holder({ keyId: 'ab', key: 'c' }), undefined);
  const running = keys.holder(name) ?? assert.fail();
  assert.equal(running.bodyHash, 'hash');
  const left = keys.allLeft();
  keys.leave(name);
  await Promise.all([running.ended, left]);
  assert.equal(keys.holder(name), undefined);
  keys.leave(name);
});
