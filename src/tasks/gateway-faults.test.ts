import assert from 'node:assert/strict';
import { test } from 'node:test';

import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { VideoTask } from './video-task.ts';
import type { TaskReport, VideoUpstreams } from './video-upstreams.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const tasksOf = (world: SimulatedWorld): readonly VideoTask[] => [...world.store.rows.values()].map(({ task }) => task);

type Answer = (truth: () => Promise<TaskReport>, isBroken: boolean) => Promise<TaskReport>;

for (const [name, answer, alertSoon] of [
  ['a decoder that throws', (truth, isBroken) => (isBroken ? Promise.reject(new TypeError('of undefined')) : truth()), true],
  [
    'an upstream that is no longer configured',
    async (truth, isBroken) => (isBroken ? { status: 'unclear', reason: 'no such upstream', isOurs: true } : await truth()),
    true,
  ],
  [
    'an upstream that cannot be reached',
    async (truth, isBroken) => (isBroken ? { status: 'unclear', reason: 'connection refused', isOurs: false } : await truth()),
    false,
  ],
  [
    'an unknown status',
    async (truth, isBroken) => (isBroken ? { status: 'unclear', reason: 'unknown status', isOurs: false } : await truth()),
    false,
  ],
  ['an upstream that says nothing', (truth, isBroken) => (isBroken ? new Promise(() => {}) : truth()), false],
] satisfies readonly (readonly [string, Answer, boolean])[]) {
  test(`${name} neither ends nor refunds a task, raises an alert, and the task continues`, async () => {
    const world = new SimulatedWorld(1);
    let isBroken = false;
    const ask: VideoUpstreams['ask'] = (task, signal) => answer(() => world.upstreams.ask(task, signal), isBroken);
    const { submitAgain, openResult } = world.upstreams;
    const lines: string[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (_facts: unknown, message?: string) => void lines.push(message ?? '') };
    void world.submit(world.startProcess({ upstreams: { ask, submitAgain, openResult }, logger }), world.plan(plainScript));
    await world.time.pass(10_000);
    const before = tasksOf(world)[0];
    isBroken = true;
    await world.time.pass(20_000);
    assert.equal(tasksOf(world)[0]?.alert !== undefined, alertSoon);
    // Longer than the time after which the poller would end the task.
    await world.time.pass(30 * minuteMs);
    const during = tasksOf(world)[0];
    assert.deepEqual([during?.phase, during?.progress, world.store.ledger.size], [before?.phase, before?.progress, 0]);
    assert.ok(during?.alert);
    assert.equal(lines.filter((line) => line === 'video alert raised').length, 1);
    isBroken = false;
    await world.time.pass(minuteMs);
    assert.deepEqual(
      tasksOf(world).map(({ phase, chargedNanoUsd }) => [phase, chargedNanoUsd]),
      [['completed', 6000n]],
    );
    assert.equal(world.store.ledger.size, 1);
    world.time.clear();
  });
}

test('an outage of the store at any moment ends no task; the tasks continue after it', async () => {
  for (const atMs of [1000, 4000, 20_000, 33_000]) {
    for (const crashPoint of ['failed-before', 'failed-after'] as const) {
      const world = new SimulatedWorld(2);
      const process = world.startProcess();
      for (let count = 0; count < 5; count++) void world.submit(process, world.plan(plainScript));
      await world.time.pass(atMs);
      world.crashPoint = () => (crashPoint === 'failed-before' || world.random() < 0.5 ? crashPoint : 'none');
      await world.time.pass(30 * minuteMs);
      if (crashPoint === 'failed-before') assert.ok(tasksOf(world).every(({ phase }) => phase !== 'completed' && phase !== 'failed'));
      world.crashPoint = () => 'none';
      await world.time.pass(5 * minuteMs);
      assert.deepEqual([...new Set(tasksOf(world).map(({ phase }) => phase))], ['completed']);
      assert.equal(world.store.deliveries.length, 5);
      assert.equal(world.storage.files.size >= 5, true);
      world.time.clear();
    }
  }
});

test('a late task stays in progress with an alert, and its video is delivered and charged once', async () => {
  const world = new SimulatedWorld(3, { deadlineMs: 10 * minuteMs });
  const process = world.startProcess();
  void world.submit(process, world.plan({ ...plainScript, workMs: 30 * minuteMs }));
  await world.time.pass(20 * minuteMs);
  assert.deepEqual(
    tasksOf(world).map(({ phase, alert }) => [phase, alert?.reason]),
    [['in_progress', 'not finished within its time']],
  );
  assert.deepEqual([process.tasks.gauges().open, process.tasks.gauges().alerted], [1, 1]);
  await world.time.pass(20 * minuteMs);
  assert.deepEqual(
    tasksOf(world).map(({ phase, chargedNanoUsd }) => [phase, chargedNanoUsd]),
    [['completed', 6000n]],
  );
  assert.deepEqual([process.tasks.gauges().open, world.store.ledger.size, world.store.deliveries.length], [0, 1, 1]);
  world.time.clear();
});

test('a task that its upstream never ends fails after a day, and costs nothing', async () => {
  const world = new SimulatedWorld(4, { giveUpMs: hourMs });
  void world.submit(world.startProcess(), world.plan({ ...plainScript, end: 'never' }));
  await world.time.pass(hourMs + minuteMs);
  assert.deepEqual(
    tasksOf(world).map(({ phase, error, chargedNanoUsd }) => [phase, error?.code, chargedNanoUsd]),
    [['failed', 'upstream_timeout', 0n]],
  );
  world.time.clear();
});
