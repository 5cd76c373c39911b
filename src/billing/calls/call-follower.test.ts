import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';

import { systemClock } from '../../platform/clock.ts';
import { startCallFollower } from './call-follower.ts';

/** A store whose steps have the given results, then `done`; a text is an error. */
function createStore(results: readonly ('more' | 'done' | 'fails')[]) {
  const waiting = [...results];
  const finished = Promise.withResolvers<void>();
  let steps = 0;
  return {
    finished: finished.promise,
    steps: () => steps,
    followCalls: async (): Promise<'more' | 'done'> => {
      steps += 1;
      const next = waiting.shift();
      if (waiting.length === 0) finished.resolve();
      if (next === 'fails') throw new Error('the store failed');
      return next ?? 'done';
    },
    packUsageDay: async (): Promise<'more' | 'done'> => 'done',
    packCalls: async (): Promise<'more' | 'done'> => 'done',
  };
}

function createLog() {
  const lines: string[] = [];
  const note = (_: object, text: string): void => void lines.push(text);
  return { lines, logger: { warn: note, info: note } as Parameters<typeof startCallFollower>[0]['logger'] };
}

test('steps follow each other while calls are left, and none follows after the close', async () => {
  const store = createStore(['more', 'more', 'more', 'done']);
  const follower = startCallFollower({ store, clock: systemClock, logger: createLog().logger });
  await store.finished;
  await follower.close();
  const { length } = Array.from({ length: store.steps() });
  await delay(20);
  assert.equal(store.steps(), length);
  assert.equal(length, 4);
});

test('a store that fails is reported once, and the follower goes on', async () => {
  const store = createStore(['fails']);
  const { lines, logger } = createLog();
  const follower = startCallFollower({ store, clock: systemClock, logger });
  await store.finished;
  await follower.close();
  assert.deepEqual(lines, ['writing facts about calls failed']);
});

test('a booking wakes a follower that has nothing to do', async () => {
  const store = createStore(['done', 'more', 'done']);
  const follower = startCallFollower({ store, clock: systemClock, logger: createLog().logger });
  while (store.steps() === 0) await delay(1);
  for (let bookings = 0; bookings < 5; bookings += 1) follower.wake();
  await store.finished;
  await follower.close();
  assert.equal(store.steps(), 3);
});

test('catching up follows everything that is booked', async () => {
  const store = createStore(['more', 'more', 'more', 'more', 'done']);
  const follower = startCallFollower({ store, clock: systemClock, logger: createLog().logger });
  await follower.catchUp();
  assert.ok(store.steps() >= 5);
  await follower.close();
});

test('ended days are packed one step after the other, and looked for rarely afterwards', async () => {
  const store = createStore(['done', 'more', 'done']);
  let [left, asked] = [3, 0];
  const packed = Promise.withResolvers<void>();
  const packUsageDay = async (): Promise<'more' | 'done'> => {
    asked += 1;
    if (left === 0) packed.resolve();
    return (left -= 1) >= 0 ? 'more' : 'done';
  };
  const follower = startCallFollower({ store: { ...store, packUsageDay }, clock: systemClock, logger: createLog().logger });
  await packed.promise;
  follower.wake();
  await delay(400);
  await follower.close();
  assert.equal(asked, 4);
});
