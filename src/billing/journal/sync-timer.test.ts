import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { recordTypes } from './journal-record.ts';
import { SyncTimer } from './sync-timer.ts';

const { open, head, progress, done } = recordTypes;

/** A timer whose syncs are counted, on a clock that the test moves. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const counted = { syncs: 0 };
  const timer = new SyncTimer({ syncIntervalMs: 5, progressSyncIntervalMs: 200 }, () => {
    counted.syncs += 1;
    timer.began();
  });
  const syncsAfter = (ms: number): number => {
    t.mock.timers.tick(ms);
    return counted.syncs;
  };
  const write = (type: (typeof recordTypes)[keyof typeof recordTypes]): void => {
    timer.add(type);
    timer.schedule();
  };
  return { timer, write, syncsAfter };
}

test('progress alone waits for the longer interval, which later progress does not extend', (t) => {
  const { write, syncsAfter } = start(t);
  write(progress);
  assert.equal(syncsAfter(150), 0);
  write(progress);
  assert.deepEqual([syncsAfter(49), syncsAfter(1)], [0, 1]);
  assert.equal(syncsAfter(1000), 1);
});

for (const [name, type] of Object.entries({ open, head, done })) {
  test(`the record ${name} is synced soon, with the progress that waits and that follows`, (t) => {
    const { write, syncsAfter } = start(t);
    write(progress);
    write(type);
    write(progress);
    assert.deepEqual([syncsAfter(4), syncsAfter(1), syncsAfter(1000)], [0, 1, 1]);
  });
}

test('records of a failed sync are soon synced again, also if they are progress', (t) => {
  const { timer, write, syncsAfter } = start(t);
  write(progress);
  assert.equal(syncsAfter(200), 1);
  timer.failed();
  timer.schedule();
  assert.equal(syncsAfter(5), 2);
});

test('a stopped timer starts no sync, and can be started again', (t) => {
  const { timer, write, syncsAfter } = start(t);
  write(done);
  timer.stop();
  assert.equal(syncsAfter(1000), 0);
  timer.schedule();
  assert.equal(syncsAfter(5), 1);
});
