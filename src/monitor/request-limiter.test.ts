import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestLimiterFullError, createRequestLimiter } from './request-limiter.ts';

const never = new AbortController().signal;

test('no more are inside at once than allowed, and those who wait come in the order they came', async () => {
  const requestLimiter = createRequestLimiter({ insideMax: 2, waitingMax: 10 });
  const entered: number[] = [];
  const enter = async (name: number) => {
    const leave = await requestLimiter.enter(never);
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
  const requestLimiter = createRequestLimiter({ insideMax: 1, waitingMax: 1 });
  const leave = await requestLimiter.enter(never);
  const waiting = requestLimiter.enter(never);
  await assert.rejects(requestLimiter.enter(never), RequestLimiterFullError);
  leave();
  await waiting;
});

test('who gives up leaves the line and takes no room', async () => {
  const requestLimiter = createRequestLimiter({ insideMax: 1, waitingMax: 1 });
  const leave = await requestLimiter.enter(never);
  const impatient = new AbortController();
  const waiting = requestLimiter.enter(impatient.signal);
  impatient.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  const patient = requestLimiter.enter(never);
  leave();
  await patient;
});
