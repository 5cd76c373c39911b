import assert from 'node:assert/strict';

import { silentLogger } from '../../../platform/log.ts';
import { sweepOrphans } from '../../sweep-media.ts';
import type { VideoTask } from '../../video-task.ts';
import type { CrashPoint, SimulatedProcess } from './simulated-process.ts';
import type { UpstreamScript } from './simulated-upstreams.ts';
import { anyScript, heldUsage, simulatedCharge, SimulatedWorld } from './simulated-world.ts';

const minuteMs = 60_000;

/** Errors with which a task of a script may end. A file that is only late is never abandoned. */
function mayEndWith(task: VideoTask, script: UpstreamScript): readonly string[] {
  const ends = {
    completed: 'completed',
    failed: 'upstream_failed',
    moderated: 'content_moderated',
    forgotten: 'task_lost',
    never: 'upstream_timeout',
  };
  if (task.upstreamTaskId === undefined) return script.isIdempotent ? [] : ['submission_lost'];
  return [script.failsFirst && script.end !== 'never' && script.end !== 'forgotten' ? 'upstream_failed' : ends[script.end]];
}

function chargeOf(end: string, { durationMs }: UpstreamScript): bigint {
  if (end !== 'completed' && end !== 'content_moderated') return 0n;
  const outputVideoMs = Math.min(durationMs ?? Infinity, heldUsage.outputVideoMs ?? Infinity);
  return simulatedCharge({ ...heldUsage, outputVideoMs }).amountNanoUsd;
}

/** Checks the invariants of an ended task. */
export function checkTask(world: SimulatedWorld, task: VideoTask): string {
  const script = world.stories.get(task.callId);
  assert.ok(script);
  const end = task.error?.code ?? task.phase;
  assert.ok(mayEndWith(task, script).includes(end), `${task.id} ended as ${end}: ${JSON.stringify(script)}`);
  const entry = world.store.ledger.get(task.callId);
  assert.equal(entry?.charge.amountNanoUsd, chargeOf(end, script));
  assert.equal(task.chargedNanoUsd, entry?.charge.amountNanoUsd);
  assert.equal(entry?.end, chargeOf(end, script) === 0n ? 'failed' : 'finished');
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

/**
 * Simulates two processes: clients arrive for a minute, failures continue for ten minutes, and then everything works.
 */
export async function liveThrough(seed: number, count: number): Promise<Map<string, number>> {
  const world = new SimulatedWorld(seed, { deadlineMs: 5 * minuteMs, giveUpMs: 20 * minuteMs });
  const { random, time, store } = world;
  const processes: SimulatedProcess[] = [world.startProcess(), world.startProcess()];
  const odds: readonly (readonly [CrashPoint, number])[] = [
    ['killed-before', 0.0002],
    ['killed-after', 0.0002],
    ['failed-before', 0.01],
    ['failed-after', 0.005],
  ];
  let kills = 0;
  world.crashPoint = () => {
    let lot = random();
    for (const [crashPoint, odd] of odds) {
      if (lot < odd) return crashPoint;
      lot -= odd;
    }
    return 'none';
  };
  for (let second = 0; second < 60 * 10; second++) {
    const alive = processes.filter(({ isAlive }) => isAlive);
    for (let coming = second < 60 ? count / 60 : 0; coming > 0; coming--) {
      const process = alive[Math.floor(random() * alive.length)];
      if (process !== undefined) void world.submit(process, world.plan(anyScript(random)), random() < 0.05);
    }
    await time.pass(1000);
    if (second % 7 > 0) continue;
    for (const [index, process] of processes.entries()) {
      if (process.isAlive) continue;
      kills += 1;
      processes[index] = world.startProcess();
    }
  }
  world.crashPoint = () => 'none';
  for (const [index, process] of processes.entries()) if (!process.isAlive) processes[index] = world.startProcess();
  await time.pass(minuteMs);
  for (const { task } of store.rows.values()) {
    if (task.phase === 'completed' || task.phase === 'failed') continue;
    assert.ok(task.alert !== undefined, `${task.id} is open after its deadline without an alert`);
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
