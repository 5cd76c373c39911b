import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createYieldQueue, WorkSlices, yieldIfLong } from './yield-queue.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function workFor(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

describe('work on large bodies in one turn of the event loop', () => {
  test('quick bodies in one turn continue at once', async () => {
    await nextTurn();
    for (let body = 0; body < 50; body += 1) assert.equal(yieldIfLong(), undefined);
  });

  test('slow bodies that arrive together do not delay the callers that wait for the next turn', async () => {
    await nextTurn();
    const done: string[] = [];
    const slow = async (name: string): Promise<void> => {
      await yieldIfLong();
      workFor(12);
      done.push(name);
    };
    const all = ['a', 'b', 'c'].map(slow);
    setImmediate(() => done.push('other'));
    await Promise.all(all);
    assert.ok(done.indexOf('other') < done.indexOf('c'), done.join(' '));
  });

  test('a new turn begins a new count', async () => {
    await nextTurn();
    assert.equal(yieldIfLong(), undefined);
    workFor(12);
    assert.notEqual(yieldIfLong(), undefined);
    await nextTurn();
    await nextTurn();
    assert.equal(yieldIfLong(), undefined);
  });
});

test('each turn of the event loop resumes one waiting caller, in order', async () => {
  const turns: (() => void)[] = [];
  const queue = createYieldQueue((callback) => turns.push(callback));
  const order: number[] = [];
  const all = [1, 2, 3].map((number) => queue.nextTurn().then(() => order.push(number)));
  while (turns.length > 0) {
    turns.shift()?.();
    await nextTurn();
  }
  await Promise.all(all);
  assert.deepEqual(order, [1, 2, 3]);
});

test('pieces of work in one turn share its time, and each turn begins with a full share', async () => {
  await nextTurn();
  const first = new WorkSlices();
  assert.ok(!first.isOver);
  workFor(12);
  assert.ok(first.isOver && new WorkSlices().isOver);
  await first.yield();
  await nextTurn();
  await nextTurn();
  assert.ok(!new WorkSlices().isOver);
});
