import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sweepOrphans } from './sweep-media.ts';
import type { VideoTask } from './video-task.ts';
import type { Mishap, SimulatedProcess } from './simulation/simulated-process.ts';
import type { Story } from './simulation/simulated-upstreams.ts';
import { anyStory, heldUsage, plainStory, SimulatedWorld, simulatedCharge } from './simulation/simulated-world.ts';
import { silentLogger } from '../platform/log.ts';

const minuteMs = 60_000;

/** Errors that a task of a story may end with. A file that is only late is never given up. */
function mayEndWith(task: VideoTask, story: Story): readonly string[] {
  const ends = {
    completed: 'completed',
    failed: 'upstream_failed',
    moderated: 'content_moderated',
    forgotten: 'task_lost',
    never: 'upstream_timeout',
  };
  if (task.upstreamTaskId === undefined) return story.isIdempotent ? [] : ['submission_lost'];
  return [story.failsFirst && story.end !== 'never' && story.end !== 'forgotten' ? 'upstream_failed' : ends[story.end]];
}

function chargeOf(end: string, { durationMs }: Story): bigint {
  if (end !== 'completed' && end !== 'content_moderated') return 0n;
  return simulatedCharge({ ...heldUsage, ...(durationMs === undefined ? {} : { outputVideoMs: durationMs }) }).amountNanoUsd;
}

/** What has to hold of a task that is over, whatever happened on its way. */
function checkTask(world: SimulatedWorld, task: VideoTask): string {
  const story = world.stories.get(task.callId);
  assert.ok(story);
  const end = task.error?.code ?? task.phase;
  assert.ok(mayEndWith(task, story).includes(end), `${task.id} ended as ${end}: ${JSON.stringify(story)}`);
  const entry = world.store.ledger.get(task.callId);
  assert.equal(entry?.charge.amountNanoUsd, chargeOf(end, story));
  assert.equal(task.chargedNanoUsd, entry?.charge.amountNanoUsd);
  assert.equal(entry?.end, chargeOf(end, story) === 0n ? 'failed' : 'finished');
  assert.equal(entry?.acceptedAtMs, task.createdAtMs);
  assert.equal(
    task.media === undefined ? undefined : world.storage.files.get(task.media.key)?.bytes,
    end === 'completed' ? 3000 : undefined,
  );
  assert.ok(world.upstreams.jobsOf(task.callId).length <= 1, `${task.id} was made twice`);
  return end;
}

function checkDeliveries(world: SimulatedWorld): void {
  const events = world.store.deliveries.map(({ subject, eventType }) => `${subject} ${eventType}`);
  const expected = [...world.store.rows.values()].map(({ task }) => `${task.id} video.${task.phase}`);
  assert.deepEqual(events.toSorted(), expected.toSorted());
  for (const { id, payload } of world.store.deliveries) {
    assert.match(id, /^msg_/);
    assert.match(
      payload,
      /^\{"id":"evt_\d+","object":"event","created_at":\d+,"type":"video\.(?:completed|failed)","data":\{"id":"task_\d+"\}\}$/,
    );
  }
}

async function checkFiles(world: SimulatedWorld): Promise<void> {
  const clock = { ...world.time, nowMs: () => world.time.nowMs() + 48 * 60 * minuteMs };
  await sweepOrphans({ ...world, clock, logger: silentLogger }, new AbortController().signal);
  const kept = [...world.store.rows.values()].flatMap(({ task }) => task.media?.key ?? []);
  assert.deepEqual([...world.storage.files.keys()].toSorted(), kept.toSorted());
}

/** Two processes under hardship: clients come for a minute, mishaps go on for ten, and then all is well. */
async function live(seed: number, count: number): Promise<Map<string, number>> {
  const world = new SimulatedWorld(seed, { deadlineMs: 5 * minuteMs, giveUpMs: 20 * minuteMs });
  const { random, time, store } = world;
  const processes: SimulatedProcess[] = [world.startProcess(), world.startProcess()];
  const odds: readonly (readonly [Mishap, number])[] = [
    ['killed-before', 0.0002],
    ['killed-after', 0.0002],
    ['failed-before', 0.01],
    ['failed-after', 0.005],
  ];
  let kills = 0;
  world.mishap = () => {
    let lot = random();
    for (const [mishap, odd] of odds) {
      if (lot < odd) return mishap;
      lot -= odd;
    }
    return 'none';
  };
  for (let second = 0; second < 60 * 10; second++) {
    const alive = processes.filter(({ isAlive }) => isAlive);
    for (let coming = second < 60 ? count / 60 : 0; coming > 0; coming--) {
      const process = alive[Math.floor(random() * alive.length)];
      if (process !== undefined) void world.submit(process, world.plan(anyStory(random)), random() < 0.05);
    }
    await time.pass(1000);
    if (second % 7 > 0) continue;
    for (const [index, process] of processes.entries()) {
      if (process.isAlive) continue;
      kills += 1;
      processes[index] = world.startProcess();
    }
  }
  world.mishap = () => 'none';
  for (const [index, process] of processes.entries()) if (!process.isAlive) processes[index] = world.startProcess();
  await time.pass(minuteMs);
  for (const { task } of store.rows.values()) {
    if (task.phase === 'completed' || task.phase === 'failed') continue;
    assert.ok(task.alert !== undefined, `${task.id} is open after its deadline, and nobody is told`);
  }
  await time.pass(19 * minuteMs);
  const ends = new Map([['kills', kills]]);
  const add = (what: string): void => void ends.set(what, (ends.get(what) ?? 0) + 1);
  for (const { task } of store.rows.values()) add(checkTask(world, task));
  for (const { callId } of world.upstreams.jobs.values()) assert.ok(store.ledger.has(callId), `${callId} was made and is in no book`);
  for (const entry of store.ledger.values()) if (entry.errorCode === 'upstream_refused_request') add('refused');
  checkDeliveries(world);
  await checkFiles(world);
  time.clear();
  return ends;
}

test('ten thousand tasks through lies, kills and failing stores: each ends once, is charged the truth once, and called back once', async (context) => {
  const ends = new Map<string, number>();
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  for (const seed of seeds) {
    for (const [what, count] of await live(seed, 1020)) ends.set(what, (ends.get(what) ?? 0) + count);
  }
  context.diagnostic(JSON.stringify(Object.fromEntries(ends)));
  const total = [...ends].filter(([what]) => what !== 'kills').reduce((sum, [, count]) => sum + count, 0);
  assert.ok(total >= 9900, `${total} tasks`);
});

for (const mishap of ['killed-before', 'killed-after', 'failed-before', 'failed-after'] as const) {
  for (const isIdempotent of [true, false]) {
    test(`a process that is ${mishap} at any call leaves a task that another ends (idempotent upstream: ${isIdempotent})`, async () => {
      const points = await countCalls(isIdempotent);
      assert.ok(points > 10, `${points} calls`);
      for (let point = 0; point < points; point++) {
        const world = new SimulatedWorld(point);
        const story = { ...plainStory, isIdempotent, badFiles: 1 };
        let calls = 0;
        world.mishap = () => (calls++ === point ? mishap : 'none');
        const first = world.startProcess();
        void world.submit(first, world.plan(story));
        await world.time.pass(20_000);
        const second = world.startProcess();
        await world.time.pass(5 * minuteMs);
        const rows = [...world.store.rows.values()];
        for (const { task } of rows) {
          assert.ok(['completed', 'submission_lost'].includes(checkTask(world, task)), `at call ${point}`);
        }
        // An intent that was never recorded, or withdrawn because nobody knew whether it was, is the only way to no task.
        if (rows.length === 0) assert.equal(world.upstreams.jobs.size, 0);
        checkDeliveries(world);
        await checkFiles(world);
        assert.ok(second.isAlive || mishap.startsWith('killed'));
        world.time.clear();
      }
    });
  }
}

async function countCalls(isIdempotent: boolean): Promise<number> {
  const world = new SimulatedWorld(0);
  let calls = 0;
  world.mishap = () => {
    calls += 1;
    return 'none';
  };
  void world.submit(world.startProcess(), world.plan({ ...plainStory, isIdempotent, badFiles: 1 }));
  await world.time.pass(minuteMs);
  assert.deepEqual(
    [...world.store.rows.values()].map(({ task }) => task.phase),
    ['completed'],
  );
  world.time.clear();
  return calls;
}
