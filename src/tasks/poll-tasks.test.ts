import assert from 'node:assert/strict';
import { test } from 'node:test';

import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { VideoUpstreams } from './video-upstreams.ts';

const minuteMs = 60_000;

/** The longest time between two polls of the same task, in milliseconds. */
function longestGap(asks: ReadonlyMap<string, readonly number[]>): number {
  let longest = 0;
  for (const times of asks.values()) {
    for (const [index, atMs] of times.entries()) if (index > 0) longest = Math.max(longest, atMs - (times[index - 1] ?? atMs));
  }
  return longest;
}

type Bench = { readonly name: string; readonly processes: number; readonly answerMs: (world: SimulatedWorld) => number };

for (const { name, processes, answerMs } of [
  { name: 'an upstream that answers at once', processes: 1, answerMs: () => 0 },
  { name: 'an upstream that never answers', processes: 1, answerMs: () => 3_600_000 },
  { name: 'two processes and an upstream that takes a second or two', processes: 2, answerMs: (world) => world.random() * 2000 },
] satisfies readonly Bench[]) {
  test(`F45: a thousand open tasks are each polled at most 10 s apart: ${name}`, async (context) => {
    const world = new SimulatedWorld(3);
    const lateness: number[] = [];
    const ask: VideoUpstreams['ask'] = async (task, signal) => {
      const reading = world.upstreams.ask(task, signal);
      const ms = answerMs(world);
      if (ms > 0) await world.time.wait(ms, signal);
      return signal.aborted ? { status: 'unclear', reason: 'no answer', isOurs: false } : await reading;
    };
    const upstreams = { ask, submitAgain: world.upstreams.submitAgain, openResult: world.upstreams.openResult };
    const all = Array.from({ length: processes }, () => world.startProcess({ upstreams, onPolled: (ms) => lateness.push(ms) }));
    for (let second = 0; second < 10; second++) {
      for (let count = 0; count < 100; count++) {
        const process = all[count % processes];
        assert.ok(process);
        void world.submit(process, world.plan({ ...plainScript, end: 'never', workMs: 10 * minuteMs }));
      }
      await world.time.pass(1000);
    }
    await world.time.pass(40_000);
    assert.equal(world.upstreams.asks.size, 1000);
    const gap = longestGap(world.upstreams.asks);
    const p99 = lateness.toSorted((one, other) => one - other)[Math.floor(lateness.length * 0.99)];
    context.diagnostic(`${lateness.length} polls, ${gap} ms apart at most, p99 of their lateness ${p99} ms`);
    assert.ok(gap <= 10_000, `${gap} ms`);
    assert.ok(all.every(({ tasks }) => tasks.gauges().open === 1000));
    world.time.clear();
  });
}

test('a starting process continues with due tasks at once', async () => {
  const world = new SimulatedWorld(4);
  const first = world.startProcess();
  for (let count = 0; count < 20; count++) void world.submit(first, world.plan({ ...plainScript, workMs: 10 * minuteMs }));
  await world.time.pass(minuteMs);
  const closing = first.tasks.close();
  await world.time.pass(5000);
  await closing;
  const asked = [...world.upstreams.asks.values()].flat().length;
  await world.time.pass(minuteMs);
  assert.equal([...world.upstreams.asks.values()].flat().length, asked, 'a closed process polls nothing');
  world.startProcess();
  await world.time.pass(300);
  assert.equal([...world.upstreams.asks.values()].flat().length, asked + 20);
  world.time.clear();
});

test('a process that closes releases its tasks and copies to the others', async () => {
  const world = new SimulatedWorld(5);
  let isSlow = true;
  const openResult: VideoUpstreams['openResult'] = async (task, result, signal) => {
    if (isSlow) await world.time.wait(50_000, signal);
    return await world.upstreams.openResult(task, result, signal);
  };
  const { ask, submitAgain } = world.upstreams;
  const first = world.startProcess({ upstreams: { ask, submitAgain, openResult } });
  void world.submit(first, world.plan(plainScript));
  await world.time.pass(50_000);
  assert.equal(first.tasks.gauges().copying, 1);
  isSlow = false;
  const second = world.startProcess();
  const closing = first.tasks.close();
  await world.time.pass(1000);
  await closing;
  assert.deepEqual(
    [...world.store.rows.values()].map(({ task }) => task.phase),
    ['completed'],
  );
  assert.equal(second.tasks.gauges().copying, 0);
  world.time.clear();
});
