import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { type VideoPhase, videoPhases } from '../../../src/tasks/video-task.ts';
import { startMs } from '../suite-start.ts';
import { usualOrLong } from '../../support/scale.ts';
import { addEndedTask, addOpenTask, claimIds, createTask, endOf, type OpenTasks, progressOf, second } from './task-fixtures.ts';

/** The behaviour of every store for open tasks: their owners, and the results of polls. */
export function pollSuite(open: OpenTasks): void {
  const find = { userName: 'ann', id: 'a' };

  test('the tasks that have waited longest are claimed first, up to the limit, whatever their phase, and none that is not due or has ended', async (context) => {
    const { store } = await open(context);
    const due: readonly (readonly [string, VideoPhase, number])[] = [
      ['c', 'in_progress', -1000],
      ['d', 'storing', -1000],
      ['b', 'queued', -2000],
      ['a', 'submitting', 0],
      ['later', 'queued', 1],
    ];
    for (const [id, phase, waits] of due) await addOpenTask(store, id, { phase, nextPollAtMs: startMs + waits });
    await addEndedTask(store, 'over', { nextPollAtMs: startMs - 9000 });
    assert.deepEqual(await claimIds(store, 'me', startMs, 3), ['b', 'c', 'd']);
    assert.deepEqual(await claimIds(store, 'me', startMs, 3), ['a']);
    assert.deepEqual(await claimIds(store, 'me', startMs, 3), []);
    assert.deepEqual(await claimIds(store, 'me', startMs + 1, 3), ['later']);
  });

  test('tasks whose file is to be copied are claimed up to a bound, and the others are not delayed by them', async (context) => {
    const { store } = await open(context);
    for (const id of ['s1', 's2', 's3', 's4']) await addOpenTask(store, id, { phase: 'storing', nextPollAtMs: startMs - 9000 });
    for (const id of ['q1', 'q2']) await addOpenTask(store, id, { phase: 'queued', nextPollAtMs: startMs });
    assert.deepEqual(await claimIds(store, 'full', startMs, 1, 0), ['q1']);
    assert.deepEqual(await claimIds(store, 'busy', startMs, 10, 2), ['s1', 's2', 'q2']);
    assert.deepEqual(await claimIds(store, 'busy', startMs, 10, 0), []);
    assert.deepEqual(await claimIds(store, 'idle', startMs, 1, 32), ['s3']);
    assert.deepEqual(await claimIds(store, 'idle', startMs, 10), ['s4']);
  });

  test('no task is claimed twice by simultaneous owners, and every task is claimed', async (context) => {
    const { store, another } = await open(context);
    const stores = [store, await another()];
    for (let index = 0; index < 60; index += 1) await addOpenTask(store, `t${index}`, { nextPollAtMs: startMs - index });
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, index) => claimIds(stores[index % 2] ?? store, `owner ${index}`, startMs, 7)),
    );
    const claimed = claims.flat();
    assert.equal(claimed.length, 60);
    assert.equal(new Set(claimed).size, 60);
  });

  test('an expired lease passes on, and reports of the first owner are void', async (context) => {
    const { store, another } = await open(context);
    const other = await another();
    const task = await addOpenTask(store, 'a');
    assert.deepEqual(await claimIds(store, 'first', startMs), ['a']);
    assert.equal(await store.renewTask({ id: 'a', owner: 'first', leaseUntilMs: startMs + 40 * second }), true);
    assert.deepEqual(await claimIds(other, 'second', startMs + 40 * second - 1), []);
    assert.deepEqual(await claimIds(other, 'second', startMs + 40 * second), ['a']);
    assert.equal(await store.renewTask({ id: 'a', owner: 'first', leaseUntilMs: startMs + 90 * second }), false);
    assert.equal(await store.recordProgress(progressOf(task, 'first', { phase: 'in_progress', progress: 50 })), false);
    assert.equal(await store.endTask(endOf(task, { owner: 'first' })), false);
    assert.deepEqual(await store.findTask(find), task);
    assert.equal(await store.findEntry(task.callId), undefined);
    assert.equal(await other.recordProgress(progressOf(task, 'second', { phase: 'in_progress', progress: 50 })), true);
    assert.equal((await store.findTask(find))?.progress, 50);
  });

  test('an expired lease stays its owner’s until another takes it, and a record releases it', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    await claimIds(store, 'me', startMs);
    const late = { nowMs: startMs + 60 * second, nextPollAtMs: startMs + 60 * second };
    assert.equal(await store.recordProgress(progressOf(task, 'me', late)), true);
    assert.equal(await store.recordProgress(progressOf(task, 'me', late)), false, 'it was released');
    assert.equal(await store.renewTask({ id: 'a', owner: 'me', leaseUntilMs: startMs + 90 * second }), false);
    assert.deepEqual(await claimIds(store, 'another', startMs + 60 * second), ['a'], 'and is free at once');
  });

  test('the results of a poll are recorded, and an omitted value is kept or removed as specified', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    const alert = { sinceMs: startMs, reason: 'the upstream answers 500' };
    const record = async (changes: Parameters<typeof progressOf>[2]): Promise<void> => {
      await claimIds(store, 'me', startMs + 10 * second);
      assert.equal(await store.recordProgress(progressOf(task, 'me', changes)), true);
    };
    await record({ phase: 'storing', progress: 70, result: '{"url":"x"}', pollFailures: 3, missingSinceMs: startMs - 1, alert });
    const polled = { lastPollAtMs: startMs + second, nextPollAtMs: startMs + 5 * second };
    const stored = { ...task, ...polled, phase: 'storing', progress: 70, result: '{"url":"x"}' } as const;
    assert.deepEqual(await store.findTask(find), { ...stored, pollFailures: 3, missingSinceMs: startMs - 1, alert });
    await record({});
    assert.deepEqual(await store.findTask(find), stored);
  });

  test('phase and progress never go back, and only the end completes, for any reports in any order', async (context) => {
    const { store } = await open(context);
    let run = 0;
    const polls = fc.array(
      fc.record(
        {
          phase: fc.constantFrom('queued', 'in_progress', 'storing'),
          progress: fc.oneof(fc.integer({ min: -5, max: 200 }), fc.double({ min: 0, max: 100, noNaN: true })),
        },
        { requiredKeys: [] },
      ),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(polls, async (found) => {
        const id = `p${(run += 1)}`;
        const task = await addOpenTask(store, id);
        let last = task;
        for (const changes of found) {
          await claimIds(store, 'me', startMs + 5 * second);
          assert.equal(await store.recordProgress(progressOf(task, 'me', changes)), true);
          const now = (await store.findTask({ userName: 'ann', id })) ?? assert.fail('it is gone');
          assert.ok(videoPhases.indexOf(now.phase) >= videoPhases.indexOf(last.phase), `${last.phase} became ${now.phase}`);
          assert.ok(now.progress >= last.progress && now.progress < 100, `${last.progress} became ${now.progress}`);
          assert.ok(now.progress >= Math.min(99, Math.trunc(changes.progress ?? 0)));
          last = now;
        }
        await store.endTask(endOf(task, { phase: 'failed' }));
      }),
      { numRuns: usualOrLong(10, 25) },
    );
  });

  test('nothing is recorded of an ended task', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    await claimIds(store, 'me', startMs);
    assert.equal(await store.endTask(endOf(task)), true, 'an end without an owner does not need the lease');
    const over = await store.findTask(find);
    assert.equal(await store.recordProgress(progressOf(task, 'me', { phase: 'queued' })), false);
    assert.equal(await store.renewTask({ id: 'a', owner: 'me', leaseUntilMs: startMs + 90 * second }), false);
    assert.deepEqual(await claimIds(store, 'another', startMs + 1e9), []);
    assert.deepEqual(await store.findTask(find), over);
    const leased = createTask('b', { phase: 'failed' });
    await store.insertTask(leased, { owner: 'me', untilMs: startMs });
    assert.equal(await store.recordProgress(progressOf(leased, 'me', { progress: 9 })), false, 'also not by the holder of the lease');
    assert.equal(await store.renewTask({ id: 'b', owner: 'me', leaseUntilMs: startMs + 1 }), false);
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'b' }), leased);
  });

  test('many polls that end simultaneously are all recorded, each with its own answer', async (context) => {
    const { store } = await open(context);
    const tasks = [];
    for (let index = 0; index < 40; index += 1) tasks.push(await addOpenTask(store, `t${index}`));
    await claimIds(store, 'me', startMs);
    const outcomes = await Promise.all(
      tasks.map((task, index) => store.recordProgress(progressOf(task, index % 3 === 0 ? 'another' : 'me', { progress: index }))),
    );
    assert.deepEqual(
      outcomes,
      tasks.map((_, index) => index % 3 !== 0),
    );
    for (const [index, { id }] of tasks.entries())
      assert.equal((await store.findTask({ userName: 'ann', id }))?.progress, index % 3 === 0 ? 0 : index);
  });

  test('open tasks are counted, those with an alert among them, and the longest delay of a task without an owner is known', async (context) => {
    const { store } = await open(context);
    assert.deepEqual(await store.countTasks(startMs), { open: 0, alerted: 0, latenessMs: 0 });
    await addOpenTask(store, 'a', { nextPollAtMs: startMs - 5000 });
    await addOpenTask(store, 'b', { nextPollAtMs: startMs - 3000, alert: { sinceMs: startMs, reason: 'x' } });
    await addOpenTask(store, 'c', { nextPollAtMs: startMs + 3000 });
    await addEndedTask(store, 'd', { nextPollAtMs: startMs - 9000, alert: { sinceMs: startMs, reason: 'x' } });
    await store.insertTask(createTask('e', { nextPollAtMs: startMs - 8000 }), { owner: 'me', untilMs: startMs + 1 });
    assert.deepEqual(await store.countTasks(startMs), { open: 4, alerted: 1, latenessMs: 5000 });
    assert.deepEqual(await claimIds(store, 'me', startMs, 1), ['a']);
    assert.deepEqual(await store.countTasks(startMs), { open: 4, alerted: 1, latenessMs: 3000 });
    assert.deepEqual(await store.countTasks(startMs - 7000), { open: 4, alerted: 1, latenessMs: 0 }, 'a clock that was set back');
  });
}
