import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnstileFullError, createTurnstile } from './turnstile.ts';

const never = new AbortController().signal;

test('no more are inside at once than allowed, and those who wait come in the order they came', async () => {
  const turnstile = createTurnstile({ insideMax: 2, waitingMax: 10 });
  const entered: number[] = [];
  const enter = async (name: number) => {
    const leave = await turnstile.enter(never);
    entered.push(name);
    return leave;
  };
  const [first, second, third, fourth] = [enter(1), enter(2), enter(3), enter(4)];
  const leaveFirst = await first;
  await second;
  assert.deepEqual(entered, [1, 2]);
  leaveFirst();
  leaveFirst();
  const leaveThird = await third;
  assert.deepEqual(entered, [1, 2, 3]);
  leaveThird();
  await fourth;
  assert.deepEqual(entered, [1, 2, 3, 4]);
});

test('a line that is full turns the next one away at once', async () => {
  const turnstile = createTurnstile({ insideMax: 1, waitingMax: 1 });
  const leave = await turnstile.enter(never);
  const waiting = turnstile.enter(never);
  await assert.rejects(turnstile.enter(never), TurnstileFullError);
  leave();
  await waiting;
});

test('who gives up leaves the line and takes no room', async () => {
  const turnstile = createTurnstile({ insideMax: 1, waitingMax: 1 });
  const leave = await turnstile.enter(never);
  const impatient = new AbortController();
  const waiting = turnstile.enter(impatient.signal);
  impatient.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  const patient = turnstile.enter(never);
  leave();
  await patient;
});
