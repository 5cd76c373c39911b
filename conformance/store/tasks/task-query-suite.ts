import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { anyUnit } from '../../../src/platform/testing/any-unit.ts';
import { hostileNames } from '../hostile-names.ts';
import { startMs } from '../suite-start.ts';
import { usualOrLong } from '../../support/scale.ts';
import {
  addEndedTask,
  addOpenTask,
  claimIds,
  createTask,
  endOf,
  mediaOf,
  type OpenTasks,
  second,
  type TaskStores,
} from './task-fixtures.ts';

/** The tasks that every store shows to a user, and the life of their files. */
export function taskQuerySuite(open: OpenTasks): void {
  test('a task is only its user’s: others find, list and delete nothing', async (context) => {
    const { store } = await open(context);
    const task = await addEndedTask(store, 'a', {}, { media: mediaOf('a') });
    for (const userName of ['bob', 'Ann', 'ann ', '', "ann' or 1=1 --"]) {
      assert.equal(await store.findTask({ userName, id: 'a' }), undefined);
      assert.deepEqual(await store.listTasks({ userName, limit: 10, order: 'asc' }), []);
      assert.deepEqual(await store.listTasks({ userName, limit: 10, order: 'asc', after: 'a' }), []);
      assert.deepEqual(await store.deleteTask({ userName, id: 'a' }), { type: 'unknown' });
      assert.equal(await store.mediaBytes({ userName }), 0);
    }
    for (const id of ['A', '', 'a\0', '%', 'x'.repeat(1000)]) assert.equal(await store.findTask({ userName: 'ann', id }), undefined);
    assert.equal((await store.findTask({ userName: 'ann', id: 'a' }))?.callId, task.callId);
  });

  test('lists are ordered by time and id in both orders, in pages without gaps or repeats, whatever the phase', async (context) => {
    const { store } = await open(context);
    const ids = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
    for (const [at, id] of ids.entries()) await addOpenTask(store, id, { createdAtMs: startMs + Math.floor(at / 3) });
    await addOpenTask(store, 'other', { userName: 'bob' });
    await store.insertTask(createTask('p7', { createdAtMs: startMs + 2 }), { owner: 'me', untilMs: startMs + second });
    await addEndedTask(store, 'p8', { createdAtMs: startMs + 3 });
    const all = [...ids, 'p7', 'p8'];
    const list = async (page: object): Promise<readonly string[]> =>
      (await store.listTasks({ userName: 'ann', limit: 100, order: 'asc', ...page })).map(({ id }) => id);
    assert.deepEqual(await list({}), all);
    assert.deepEqual(await list({ order: 'desc' }), all.toReversed());
    for (const order of ['asc', 'desc'] as const) {
      const pages: string[] = [];
      for (;;) {
        const page = await list({ order, limit: 3, after: pages.at(-1) });
        pages.push(...page);
        if (page.length < 3) break;
      }
      assert.deepEqual(pages, order === 'asc' ? all : all.toReversed());
    }
    for (const after of ['other', 'nobody', '', "' or 1=1 --"]) assert.deepEqual(await list({ after }), [], after);
    assert.deepEqual(await list({ after: 'p8' }), []);
  });

  test('an ended task can be deleted permanently with its request, its ledger row stays; an open one cannot', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    assert.deepEqual(await store.deleteTask({ userName: 'ann', id: 'a' }), { type: 'open' });
    await store.endTask(endOf(task, { media: mediaOf('a') }));
    assert.deepEqual(await store.unknownMedia(['media-a', 'media-b']), ['media-b']);
    assert.deepEqual(await store.deleteTask({ userName: 'ann', id: 'a' }), { type: 'deleted', mediaKey: 'media-a' });
    assert.deepEqual(await store.deleteTask({ userName: 'ann', id: 'a' }), { type: 'unknown' });
    assert.equal(await store.findTask({ userName: 'ann', id: 'a' }), undefined);
    assert.deepEqual(await store.listTasks({ userName: 'ann', limit: 9, order: 'asc' }), []);
    assert.deepEqual(await store.unknownMedia(['media-a', 'media-b']), ['media-a', 'media-b'], 'its file has no owner');
    assert.equal(await store.mediaBytes({ userName: 'ann' }), 0);
    assert.ok((await store.findEntry(task.callId)) !== undefined);
    assert.equal(await store.endTask(endOf(task)), false, 'it does not reappear');
    await addEndedTask(store, 'without-file', {}, { phase: 'failed' });
    assert.deepEqual(await store.deleteTask({ userName: 'ann', id: 'without-file' }), { type: 'deleted' });
  });

  test('files are summed by user and by key, as long as they exist', async (context) => {
    const { store } = await open(context);
    const sums = async (): Promise<readonly number[]> =>
      Promise.all(
        [{ userName: 'ann' }, { userName: 'ann', keyId: 'key-1' }, { userName: 'ann', keyId: 'key-2' }, { userName: 'bob' }].map(
          store.mediaBytes,
        ),
      );
    assert.deepEqual(await sums(), [0, 0, 0, 0]);
    const expiresAtMs = startMs + 100;
    await addEndedTask(store, 'a', {}, { media: mediaOf('a', 5_000_000_000), expiresAtMs });
    await addEndedTask(store, 'b', { keyId: 'key-2' }, { media: mediaOf('b', 20), expiresAtMs: expiresAtMs + 1 });
    await addEndedTask(store, 'c', { userName: 'bob', keyId: 'key-3' }, { media: mediaOf('c', 0) });
    await addEndedTask(store, 'd', {}, { phase: 'failed' });
    await addOpenTask(store, 'e');
    assert.deepEqual(await sums(), [5_000_000_020, 5_000_000_000, 20, 0]);
    assert.deepEqual(await store.expireMedia({ nowMs: expiresAtMs, limit: 10 }), ['media-a']);
    assert.deepEqual(await sums(), [20, 0, 20, 0]);
  });

  test('expired files are removed, up to the limit, the oldest first; the tasks stay', async (context) => {
    const { store } = await open(context);
    for (let index = 0; index < 5; index += 1)
      await addEndedTask(store, `t${index}`, {}, { media: mediaOf(`t${index}`), expiresAtMs: startMs + 5 - index });
    await addEndedTask(store, 'kept', {}, { media: mediaOf('kept') });
    await addEndedTask(store, 'bare', {}, { phase: 'failed', expiresAtMs: startMs });
    const before = await store.findTask({ userName: 'ann', id: 't4' });
    assert.deepEqual(await store.expireMedia({ nowMs: startMs, limit: 10 }), []);
    assert.deepEqual(await store.expireMedia({ nowMs: startMs + 4, limit: 3 }), ['media-t4', 'media-t3', 'media-t2']);
    assert.deepEqual(await store.expireMedia({ nowMs: startMs + 4, limit: 3 }), ['media-t1']);
    assert.deepEqual(await store.expireMedia({ nowMs: startMs + 4, limit: 3 }), []);
    const { media: _media, ...rest } = before ?? assert.fail();
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 't4' }), rest);
    const keys = ['media-t4', 'media-t0', 'media-kept'];
    assert.deepEqual(await store.unknownMedia(keys), ['media-t4']);
    assert.deepEqual(await store.expireMedia({ nowMs: startMs + 1e15, limit: 9 }), ['media-t0'], 'a file without an expiry stays');
    assert.deepEqual(await store.unknownMedia([]), []);
  });

  test('tasks that ended before a time and have no file are forgotten, the oldest first, up to the limit', async (context) => {
    const { store } = await open(context);
    const idempotency = { keyId: 'key-1', key: 'once', bodyHash: 'hash', untilMs: startMs + 1e9 };
    const oldest = createTask('oldest');
    await store.insertTask(oldest, { owner: 'me', untilMs: startMs }, idempotency);
    await store.endTask(endOf(oldest, { phase: 'failed', endedAtMs: startMs + 1 }));
    await addEndedTask(store, 'later', {}, { phase: 'failed', endedAtMs: startMs + 3 });
    await addEndedTask(store, 'between', {}, { media: mediaOf('between'), expiresAtMs: startMs + 50, endedAtMs: startMs + 2 });
    await addEndedTask(store, 'with-file', {}, { media: mediaOf('with-file'), endedAtMs: startMs + 2 });
    await addOpenTask(store, 'open');
    const left = async (): Promise<readonly string[]> =>
      (await store.listTasks({ userName: 'ann', limit: 9, order: 'asc' })).map(({ id }) => id).toSorted();
    await store.expireMedia({ nowMs: startMs + 50, limit: 9 });
    assert.equal(await store.sweepTasks({ endedBeforeMs: startMs + 1, limit: 9 }), 0, 'before, and not at');
    assert.equal(await store.sweepTasks({ endedBeforeMs: startMs + 4, limit: 2 }), 2);
    assert.deepEqual(await left(), ['later', 'open', 'with-file']);
    assert.equal(await store.sweepTasks({ endedBeforeMs: startMs + 1e12, limit: 2 }), 1);
    assert.deepEqual(await left(), ['open', 'with-file'], 'an open task, and one with a file, stays');
    assert.ok((await store.findEntry(oldest.callId)) !== undefined, 'its ledger row stays');
    const again = await store.insertTask(createTask('again'), { owner: 'me', untilMs: startMs }, idempotency);
    assert.equal(again.type, 'inserted', 'its key is forgotten with it');
  });

  test('text of every kind is stored unchanged, and matches only itself', async (context) => {
    const { store } = await open(context);
    for (const [index, text] of hostileNames.entries()) {
      const names = {
        userName: text,
        keyId: text,
        keyName: text,
        requestedModel: text,
        upstreamModel: text,
        upstream: text,
        remixedFrom: text,
      };
      const task = createTask(`id ${index} ${text}`, {
        ...names,
        pricingParameters: { [text]: text },
        alert: { sinceMs: 1, reason: text },
      });
      const idempotency = { keyId: text, key: text, bodyHash: text, untilMs: startMs + second };
      assert.deepEqual(await store.insertTask(task, { owner: text, untilMs: startMs }, idempotency), { type: 'inserted' });
      assert.deepEqual(await store.insertTask({ ...task, id: 'other' }, { owner: text, untilMs: startMs }, idempotency), {
        type: 'existing',
        task,
      });
      const accepted = { upstreamTaskId: text, phase: 'queued', progress: 0, nowMs: startMs, nextPollAtMs: startMs } as const;
      assert.equal(await store.acceptTask({ id: task.id, owner: text, ...accepted }), true);
      const media = { key: `m${text}`, mediaType: text, bytes: 1, sha256: text };
      const error = { code: 'canceled', message: text } as const;
      assert.equal(await store.endTask(endOf(task, { media, error, phase: 'failed' })), true);
      const found = await store.findTask({ userName: text, id: task.id });
      assert.deepEqual({ ...found, ...task, phase: 'failed', upstreamTaskId: text, media, error }, found);
      assert.deepEqual(await store.listTasks({ userName: text, limit: 9, order: 'desc' }), [found]);
      assert.deepEqual(await store.unknownMedia([media.key]), []);
    }
  });

  test('names and answers that no encoding can express are stored as received, and never prevent that a task is found', async (context) => {
    const { store } = await open(context);
    let run = 0;
    const odd = fc.oneof(fc.string({ unit: anyUnit, maxLength: 8 }), fc.constantFrom('\ud800', 'a\0b', '\udfff\ud800'));
    await fc.assert(
      fc.asyncProperty(odd, odd, async (model, message) => {
        const id = `odd-${(run += 1)}`;
        const task = await addOpenTask(store, id, {
          requestedModel: model,
          upstreamModel: model,
          pricingParameters: { [`p${model}`]: model },
        });
        await claimIds(store, 'me', startMs);
        await store.endTask(endOf(task, { phase: 'failed', error: { code: 'upstream_failed', message } }));
        const found = await findOwn(store, id);
        assert.deepEqual([found.requestedModel, found.pricingParameters, found.error?.message], [model, task.pricingParameters, message]);
      }),
      { numRuns: usualOrLong(10, 30) },
    );
    await addOpenTask(store, 'mixed', { upstreamTaskId: 'a\0\ud800', result: '\udfff' });
    assert.equal((await findOwn(store, 'mixed')).id, 'mixed');
  });
}

async function findOwn(store: TaskStores, id: string) {
  return (await store.findTask({ userName: 'ann', id })) ?? assert.fail('it is gone');
}
