import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoreUnderTest } from '../store-under-test.ts';
import { startMs } from '../suite-start.ts';
import { changeAt } from '../../../src/audit/testing/test-change.ts';
import { addEndedTask, addOpenTask, createDelivery } from './task-fixtures.ts';

/** The behaviour of databases for lists of videos and callbacks over several users. */
export function taskListSuite(engine: () => StoreUnderTest): void {
  test('videos and callbacks of all users or of some are listed newest first, page by page and by their facts', async () => {
    const store = engine().store();
    await addOpenTask(store, 'list-1', { userName: 'ann', createdAtMs: startMs + 1, upstream: 'first "quoted" \\ one' });
    await addOpenTask(store, 'list-2', { userName: 'bob', createdAtMs: startMs + 2, upstream: 'second' });
    await addEndedTask(store, 'list-3', { userName: 'ann', createdAtMs: startMs + 2, upstream: 'Second' });
    const list = async (query: object) => (await store.queryTasks({ users: 'all', limit: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await list({}), ['list-3', 'list-2', 'list-1']);
    assert.deepEqual(await list({ after: { createdAtMs: startMs + 2, id: 'list-3' } }), ['list-2', 'list-1']);
    assert.deepEqual(await list({ limit: 1 }), ['list-3']);
    assert.deepEqual(await list({ users: ['ann', 'eve'] }), ['list-3', 'list-1']);
    assert.deepEqual(await list({ users: [] }), []);
    assert.deepEqual(await list({ users: ['ann'], userName: 'bob' }), []);
    assert.deepEqual(await list({ upstream: 'second' }), ['list-2']);
    assert.deepEqual(await list({ upstream: 'first "quoted" \\ one' }), ['list-1']);
    assert.deepEqual(await list({ phases: ['completed', 'failed'] }), ['list-3']);
    assert.deepEqual(await list({ hasAlert: true }), []);
    assert.deepEqual(await list({ fromMs: startMs + 1, toMs: startMs + 2, hasAlert: false }), ['list-1']);
    assert.deepEqual(await store.deleteTask({ userName: 'ann', id: 'list-1', change: changeAt(1) }), { type: 'open' });
    assert.equal((await store.deleteTask({ userName: 'ann', id: 'list-3', change: changeAt(1) })).type, 'deleted');
    assert.equal((await store.listAudit({ limit: 1 }))[0]?.action, 'videos.delete');

    const deliveries = [
      createDelivery('list-a', { userName: 'ann', subject: 'one', createdAtMs: startMs }),
      createDelivery('list-b', { userName: 'bob', subject: 'two', createdAtMs: startMs }),
    ];
    await store.insertDeliveries(deliveries);
    const sent = async (query: object) => (await store.queryDeliveries({ users: 'all', limit: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await sent({}), ['list-b', 'list-a']);
    assert.deepEqual(await sent({ users: ['ann'] }), ['list-a']);
    assert.deepEqual(await sent({ id: 'list-b', subject: 'two', status: 'waiting' }), ['list-b']);
    assert.deepEqual(await sent({ status: 'given-up' }), []);
    assert.deepEqual(await sent({ after: { createdAtMs: startMs, id: 'list-b' } }), ['list-a']);
    for (const table of ['video_requests', 'video_tasks', 'callback_deliveries']) await engine().tamper(`delete from ${table}`);
  });
}
