import assert from 'node:assert/strict';
import { test } from 'node:test';

import { plainStory, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { VideoTask } from './video-task.ts';
import type { TaskReading, VideoUpstreams } from './video-upstreams.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const tasksOf = (world: SimulatedWorld): readonly VideoTask[] => [...world.store.rows.values()].map(({ task }) => task);

type Answer = (truth: () => Promise<TaskReading>, isBroken: boolean) => Promise<TaskReading>;

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
    'a status that nobody has heard of',
    async (truth, isBroken) => (isBroken ? { status: 'unclear', reason: 'unknown status', isOurs: false } : await truth()),
    false,
  ],
  ['an upstream that says nothing', (truth, isBroken) => (isBroken ? new Promise(() => {}) : truth()), false],
] satisfies readonly (readonly [string, Answer, boolean])[]) {
  test(`${name} neither ends nor refunds a task: it is alerted, and goes on`, async () => {
    const world = new SimulatedWorld(1);
    let isBroken = false;
    const ask: VideoUpstreams['ask'] = (task, signal) => answer(() => world.upstreams.ask(task, signal), isBroken);
    const { submitAgain, openResult } = world.upstreams;
    const lines: string[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (_facts: unknown, message?: string) => void lines.push(message ?? '') };
    void world.submit(world.startProcess({ upstreams: { ask, submitAgain, openResult }, logger }), world.plan(plainStory));
    await world.time.pass(10_000);
    const before = tasksOf(world)[0];
    isBroken = true;
    await world.time.pass(20_000);
    assert.equal(tasksOf(world)[0]?.alert !== undefined, alertSoon);
    // Longer than it takes until nobody would wait for it any more, were it up to the poller.
    await world.time.pass(30 * minuteMs);
    const during = tasksOf(world)[0];
    assert.deepEqual([during?.phase, during?.progress, world.store.ledger.size], [before?.phase, before?.progress, 0]);
    assert.ok(during?.alert);
    assert.equal(lines.filter((line) => line === 'a video needs attention').length, 1);
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

test('a store that is away, at any moment and for hours, ends nothing; the tasks go on when it is back', async () => {
  for (const atMs of [1000, 4000, 20_000, 33_000]) {
    for (const mishap of ['failed-before', 'failed-after'] as const) {
      const world = new SimulatedWorld(2);
      const process = world.startProcess();
      for (let count = 0; count < 5; count++) void world.submit(process, world.plan(plainStory));
      await world.time.pass(atMs);
      world.mishap = () => (mishap === 'failed-before' || world.random() < 0.5 ? mishap : 'none');
      await world.time.pass(30 * minuteMs);
      if (mishap === 'failed-before') assert.ok(tasksOf(world).every(({ phase }) => phase !== 'completed' && phase !== 'failed'));
      world.mishap = () => 'none';
      await world.time.pass(5 * minuteMs);
      assert.deepEqual([...new Set(tasksOf(world).map(({ phase }) => phase))], ['completed']);
      assert.equal(world.store.deliveries.length, 5);
      assert.equal(world.storage.files.size >= 5, true);
      world.time.clear();
    }
  }
});

test('a task is late: it stays in progress with an alert, and what comes then is delivered and charged once', async () => {
  const world = new SimulatedWorld(3, { deadlineMs: 10 * minuteMs });
  const process = world.startProcess();
  void world.submit(process, world.plan({ ...plainStory, workMs: 30 * minuteMs }));
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

test('a task that its upstream never ends is over after a day, and costs nothing', async () => {
  const world = new SimulatedWorld(4, { giveUpMs: hourMs });
  void world.submit(world.startProcess(), world.plan({ ...plainStory, end: 'never' }));
  await world.time.pass(hourMs + minuteMs);
  assert.deepEqual(
    tasksOf(world).map(({ phase, error, chargedNanoUsd }) => [phase, error?.code, chargedNanoUsd]),
    [['failed', 'upstream_timeout', 0n]],
  );
  world.time.clear();
});
