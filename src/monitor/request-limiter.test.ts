import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestLimiterFullError, createRequestLimiter } from './request-limiter.ts';

const never = new AbortController().signal;

test('the number of running requests stays below its limit, and waiting requests enter in order of arrival', async () => {
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

test('a full line refuses the next request at once', async () => {
  const requestLimiter = createRequestLimiter({ insideMax: 1, waitingMax: 1 });
  const leave = await requestLimiter.enter(never);
  const waiting = requestLimiter.enter(never);
  await assert.rejects(requestLimiter.enter(never), RequestLimiterFullError);
  leave();
  await waiting;
});

test('a request that aborts leaves the line and never occupies a slot', async () => {
  const requestLimiter = createRequestLimiter({ insideMax: 1, waitingMax: 1 });
  const leave = await requestLimiter.enter(never);
  const impatient = new AbortController();
  const waiting = requestLimiter.enter(impatient.signal);
  impatient.abort(new Error('disconnected'));
  await assert.rejects(waiting, /disconnected/);
  const patient = requestLimiter.enter(never);
  leave();
  await patient;
});
