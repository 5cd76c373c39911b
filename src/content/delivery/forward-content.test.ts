import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { createSealer } from '../../platform/seal/sealer.ts';
import type { ContentErasure } from '../content-store.ts';
import { ContentSpool } from '../spool/content-spool.ts';
import type { ContentBatch } from './content-sink.ts';
import { createContentForwarder } from './forward-content.ts';
import { createObjectSink } from './write-objects.ts';

async function setUp(context: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-forward-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  let nowMs = 1000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const spool = await ContentSpool.open({ directory, sealer: createSealer(Buffer.alloc(32, 1)), clock, bytesMax: () => 1e6 });
  const received: Record<string, ContentBatch[]> = { good: [], bad: [] };
  const failing = new Set<string>();
  const erasures: ContentErasure[] = [];
  const logged: string[] = [];
  const log = (_fields: unknown, message?: string): void => void logged.push(message ?? '');
  const sink = (name: string) => ({
    name,
    send: async (batch: ContentBatch) => {
      if (failing.has(name)) throw new Error('away');
      received[name]?.push(batch);
    },
  });
  const forwarder = createContentForwarder({
    spool,
    store: { listErasures: async () => erasures },
    origin: 'node-1',
    sinks: () => [sink('good'), sink('bad')],
    batchMs: () => 0,
    clock,
    logger: { info: log, warn: log },
    onSent: () => {},
    everyMs: 100,
  });
  const add = (id: string, user = 'ann', atMs = 500) =>
    spool.append(Buffer.from(`${JSON.stringify({ id, at: new Date(atMs).toISOString(), user, user_id: user })}\n`));
  const ids = (name: string) => received[name]?.flatMap(({ records }) => records.map(({ id }) => id)) ?? [];
  return { forwarder, spool, add, ids, received, failing, erasures, logged, advance: (ms: number) => void (nowMs += ms) };
}

test('each sink gets every batch, and one that is away delays no other and gets its batches with the same ids later', async (context) => {
  const { forwarder, spool, add, ids, received, failing, logged, advance } = await setUp(context);
  failing.add('bad');
  await add('1');
  await forwarder.round();
  await add('2');
  await forwarder.round();
  assert.deepEqual([ids('good'), ids('bad')], [['1', '2'], []]);
  assert.equal((await spool.batches()).length, 2);
  failing.clear();
  advance(1000);
  await forwarder.round();
  assert.deepEqual(
    [ids('good'), ids('bad')],
    [
      ['1', '2'],
      ['1', '2'],
    ],
  );
  assert.deepEqual(
    received['bad']?.map(({ id }) => id),
    received['good']?.map(({ id }) => id),
  );
  assert.deepEqual([spool.bytes, logged], [0, ['sending content to a sink failed', 'content sink works again']]);
});

test('records of an erased user that wait are not sent, and later ones are', async (context) => {
  const { forwarder, add, ids, erasures } = await setUp(context);
  erasures.push({ userId: 'ann', user: 'ann', beforeMs: 600, orderedAtMs: 700, objectsLeft: 0 });
  await add('old');
  await add('other', 'bob');
  await add('new', 'ann', 600);
  await forwarder.round();
  assert.deepEqual(ids('good'), ['other', 'new']);
});

test('an object that is erased while it is written is deleted by its writer', async () => {
  const present = new Set<string>();
  const sink = createObjectSink({
    name: 'files',
    place: { id: 'p', write: async (name) => void present.add(name), remove: async (name) => void present.delete(name) },
    store: { noteObject: async () => true, confirmObject: async ({ name }) => !name.includes('erased') },
    clock: { nowMs: () => 1, monotonicMs: () => 1 },
  });
  const record = (id: string, at: string) => ({ id, at, user: 'ann', user_id: 'ann' });
  const records = [record('1', '2026-11-27T01:00:00.000Z'), record('2', '2026-11-28T01:00:00.000Z')];
  await sink.send({ id: 'kept-1', records }, AbortSignal.timeout(1000));
  await sink.send({ id: 'erased-2', records }, AbortSignal.timeout(1000));
  assert.deepEqual(
    [...present].map((name) => name.replace(/_[0-9a-f]{16}_/, '_user_')),
    ['2026-11-27_user_kept-1', '2026-11-28_user_kept-1'],
  );
});
