import assert from 'node:assert/strict';

import { silentLogger } from '../../../platform/log.ts';
import { sweepOrphans } from '../../sweep-media.ts';
import type { VideoTask } from '../../video-task.ts';
import type { Mishap, SimulatedProcess } from './simulated-process.ts';
import type { Story } from './simulated-upstreams.ts';
import { anyStory, heldUsage, simulatedCharge, SimulatedWorld } from './simulated-world.ts';

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
  const outputVideoMs = Math.min(durationMs ?? Infinity, heldUsage.outputVideoMs ?? Infinity);
  return simulatedCharge({ ...heldUsage, outputVideoMs }).amountNanoUsd;
}

/** What has to hold of a task that is over, whatever happened on its way. */
export function checkTask(world: SimulatedWorld, task: VideoTask): string {
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

export function checkDeliveries(world: SimulatedWorld): void {
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

export async function checkFiles(world: SimulatedWorld): Promise<void> {
  const { store, storage, time } = world;
  const clock = { nowMs: () => time.nowMs() + 48 * 60 * minuteMs, monotonicMs: time.monotonicMs };
  await sweepOrphans({ store, storage, clock, logger: silentLogger }, new AbortController().signal);
  const kept = [...world.store.rows.values()].flatMap(({ task }) => task.media?.key ?? []);
  assert.deepEqual([...world.storage.files.keys()].toSorted(), kept.toSorted());
}

/** Two processes under hardship: clients come for a minute, mishaps go on for ten, and then all is well. */
export async function liveThrough(seed: number, count: number): Promise<Map<string, number>> {
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
