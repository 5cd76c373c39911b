import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TaskProgress } from '../../tasks/task-store.ts';
import { StoreError } from '../store-error.ts';
import { groupProgress } from './group-progress.ts';

const progressOf = (id: string): TaskProgress => ({
  id,
  owner: 'me',
  nowMs: 1,
  nextPollAtMs: 2,
  pollFailures: 0,
  missingSinceMs: undefined,
  alert: undefined,
});

/** A sender that the test answers, and the groups that it received. */
function createSender(answer: (ids: readonly string[]) => readonly boolean[]) {
  const groups: string[][] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const record = groupProgress(async (group) => {
    const ids = group.map(({ id }) => id);
    groups.push(ids);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return answer(ids);
  });
  return { groups, record: (id: string) => record(progressOf(id)), open: (index: number) => gates[index]?.resolve() };
}

test('reports that arrive while a group is being written form the next group, and each gets its own answer', async () => {
  const { groups, record, open } = createSender((ids) => ids.map((id) => id !== 'lost'));
  const first = [record('a'), record('b')];
  await Promise.resolve();
  await Promise.resolve();
  const next = [record('c'), record('lost'), record('d')];
  open(0);
  assert.deepEqual(await Promise.all(first), [true, true]);
  await new Promise(setImmediate);
  open(1);
  assert.deepEqual(await Promise.all(next), [true, false, true]);
  assert.deepEqual(groups, [
    ['a', 'b'],
    ['c', 'lost', 'd'],
  ]);
  const last = record('e');
  await new Promise(setImmediate);
  open(2);
  assert.equal(await last, true, 'a new group starts after a pause');
});

test('no group is larger than the limit of a transaction', async () => {
  const sizes: number[] = [];
  const record = groupProgress(async (group) => {
    sizes.push(group.length);
    return group.map(() => true);
  });
  const outcomes = await Promise.all(Array.from({ length: 600 }, (_, index) => record(progressOf(`t${index}`))));
  assert.ok(outcomes.every(Boolean));
  assert.deepEqual(sizes, [256, 256, 88]);
});

test('a report that cannot be stored is refused alone, and one with an unknown outcome is not retried', async () => {
  const sent: string[][] = [];
  const failWith = (kind: 'constraint' | 'unavailable') => async (group: readonly TaskProgress[]) => {
    sent.push(group.map(({ id }) => id));
    if (group.some(({ id }) => id === 'bad')) throw new StoreError(kind, 'refused');
    return group.map(() => true);
  };
  for (const [kind, statuses, groups] of [
    ['constraint', ['fulfilled', 'rejected', 'fulfilled'], [['a', 'bad', 'b'], ['a'], ['bad'], ['b']]],
    ['unavailable', ['rejected', 'rejected', 'rejected'], [['a', 'bad', 'b']]],
  ] as const) {
    sent.length = 0;
    const record = groupProgress(failWith(kind));
    const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map((id) => record(progressOf(id))));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      statuses,
    );
    assert.deepEqual(sent, groups);
    assert.equal(await record(progressOf('c')), true, 'later reports are written');
  }
});
