import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { type PollDecision, type PollMoment, readPoll } from './read-poll.ts';
import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import { defaultTaskSettings } from './task-parts.ts';
import { askTimeoutMs, busyTickMs, missingForMs, silentPollsMax } from './timings.ts';
import { type VideoTask, videoPhases } from './video-task.ts';
import type { TaskReport } from './video-upstreams.ts';

const startMs = 1_790_000_000_000;
const minuteMs = 60_000;

const world = new SimulatedWorld(1);
const { request: _request, ...known } = world.plan(plainScript);
const fresh: VideoTask = {
  ...known,
  id: 'task_1',
  createdAtMs: startMs,
  phase: 'queued',
  progress: 0,
  upstreamTaskId: 'job_1',
  sealed: new Uint8Array(),
  nextPollAtMs: startMs,
  pollFailures: 0,
};

const momentAt = (nowMs: number, random = 0.5): PollMoment => ({ askedAtMs: nowMs, nowMs, random, settings: defaultTaskSettings });

/** The task after a decision, as the store would record it. */
function apply(task: VideoTask, decision: Exclude<PollDecision, { type: 'fail' }>, nowMs: number): VideoTask {
  const { missingSinceMs, alert, ...rest } = decision.note;
  const { missingSinceMs: _since, alert: _alert, ...kept } = task;
  const noted = { ...(missingSinceMs === undefined ? {} : { missingSinceMs }), ...(alert === undefined ? {} : { alert }) };
  return { ...kept, ...rest, ...noted, lastPollAtMs: nowMs };
}

type Life = { readonly task: VideoTask; readonly failed?: string; readonly atMs: number };

/** Polls a task when it is due, until the reports or the task end. */
function follow(task: VideoTask, readings: readonly TaskReport[], lateMs = 0): Life {
  let current = task;
  let atMs = task.createdAtMs;
  for (const reading of readings) {
    atMs = Math.max(atMs, current.nextPollAtMs) + lateMs;
    const decision = readPoll(current, reading, momentAt(atMs));
    if (decision.type === 'fail') return { task: current, failed: decision.failure.error.code, atMs };
    current = apply(current, decision, atMs);
    if (decision.type === 'store') return { task: current, atMs };
  }
  return { task: current, atMs };
}

const anyProgress = fc.oneof(fc.integer({ min: -10, max: 200 }), fc.double());
const missing: TaskReport = { status: 'missing' };
const unclear: TaskReport = { status: 'unclear', reason: 'a balancer', isOurs: false };
const fault: TaskReport = { status: 'unclear', reason: 'no such upstream', isOurs: true };
const anyUnfinished: fc.Arbitrary<TaskReport> = fc.oneof(
  fc.record({ status: fc.constantFrom('queued' as const, 'in_progress' as const) }),
  fc.record({ status: fc.constantFrom('queued' as const, 'in_progress' as const), progress: anyProgress }),
  fc.constant(missing),
  fc.constant(unclear),
  fc.constant(fault),
);

test('a working task never goes back, shows integers below 100, and is due again within 10 s, for any reports', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyUnfinished, fc.integer({ min: 0, max: 20_000 }), fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 60 }),
      (steps) => {
        let task = fresh;
        let atMs = startMs;
        for (const [reading, lateMs, random] of steps) {
          atMs = Math.max(atMs, task.nextPollAtMs) + lateMs;
          const decision = readPoll(task, reading, momentAt(atMs, random));
          if (decision.type !== 'note') return assert.equal(decision.type === 'fail' && decision.failure.error.code, 'task_lost');
          const next = apply(task, decision, atMs);
          assert.ok(videoPhases.indexOf(next.phase) >= videoPhases.indexOf(task.phase));
          assert.ok(Number.isInteger(next.progress) && next.progress >= task.progress && next.progress <= 99);
          if (next.phase === 'queued') assert.equal(next.progress, 0);
          if (reading.status === 'missing' || reading.status === 'unclear')
            assert.deepEqual([next.phase, next.progress], [task.phase, task.progress]);
          assert.ok(next.nextPollAtMs > atMs && next.nextPollAtMs - atMs + busyTickMs <= 10_000);
          assert.equal(next.alert === undefined && reading.status === 'unclear' && reading.isOurs, false);
          task = next;
        }
        return undefined;
      },
    ),
    { numRuns: 2000 },
  );
});

test('an answer that takes until its time limit does not push the next poll beyond 10 s', () => {
  for (const ageMs of [0, 9000, 59_000, 3_600_000]) {
    const moment = { ...momentAt(startMs + ageMs, 0), nowMs: startMs + ageMs + askTimeoutMs };
    const decision = readPoll(fresh, unclear, moment);
    assert.equal(decision.type, 'note');
    if (decision.type === 'note') assert.ok(decision.note.nextPollAtMs <= startMs + ageMs + 8000);
  }
});

test('a missing task counts as lost only after ten minutes without any other answer', () => {
  const many = (count: number, reading: TaskReport): TaskReport[] => Array.from({ length: count }, () => reading);
  const life = follow(fresh, many(200, missing));
  assert.equal(life.failed, 'task_lost');
  assert.ok(life.atMs - startMs >= missingForMs && life.atMs - startMs < missingForMs + 10_000);
  assert.ok(life.task.pollFailures >= 10);
  // Any other answer restarts the time.
  for (const other of [unclear, fault, { status: 'queued' }, { status: 'in_progress', progress: 3 }] as const) {
    assert.equal(follow(fresh, [...many(75, missing), other, ...many(75, missing)]).failed, undefined, other.status);
  }
  // So does a pause without polls, also repeatedly.
  assert.equal(follow(fresh, many(9, missing), 5 * minuteMs).failed, undefined);
});

test('silence of some minutes raises an alert, a fault of the gateway does at once, and the first answer clears it', () => {
  const silence = Array.from({ length: silentPollsMax }, () => unclear);
  const before = follow(fresh, silence.slice(1));
  assert.equal(before.task.alert, undefined);
  const after = follow(fresh, silence);
  assert.equal(after.task.alert?.reason, 'no status known: a balancer');
  assert.ok(after.atMs - startMs > 4 * minuteMs && after.atMs - startMs < 6 * minuteMs);
  assert.equal(follow(fresh, [fault]).task.alert?.reason, 'fault of the gateway: no such upstream');
  const later = follow(fresh, [fault, unclear, fault]).task.alert;
  assert.equal(later?.sinceMs, startMs);
  assert.equal(follow(fresh, [fault, { status: 'queued' }]).task.alert, undefined);
});

const old = (ageMs: number, changed: Partial<VideoTask> = {}): VideoTask => ({
  ...fresh,
  createdAtMs: startMs - ageMs,
  phase: 'in_progress',
  ...changed,
});
const working: TaskReport = { status: 'in_progress', progress: 50 };
const dayMs = 24 * 60 * minuteMs;

for (const [name, task, reading, expected] of [
  ['has an alert after its deadline, and continues', old(61 * minuteMs), working, 'not finished within its time'],
  ['is left alone before it', old(59 * minuteMs), working, undefined],
  ['ends after a day of work', old(dayMs), working, 'upstream_timeout'],
  ['ends after a day, and minutes of silence', old(dayMs, { pollFailures: silentPollsMax }), unclear, 'upstream_timeout'],
  ['does not end after a day by the first silence', old(dayMs), unclear, 'not finished within its time'],
  ['never ends by a fault of our own', old(30 * dayMs, { pollFailures: 5000 }), fault, 'fault of the gateway: no such upstream'],
  ['is delivered after its deadline', old(100 * minuteMs), { status: 'completed', result: 'r' }, 'store'],
  ['is delivered even after a day without polls', old(2 * dayMs), { status: 'completed', result: 'r' }, 'store'],
] as const) {
  test(`a task that is late ${name}`, () => {
    const decision = readPoll(task, reading, momentAt(startMs));
    const told = decision.type === 'fail' ? decision.failure.error.code : decision.type === 'store' ? 'store' : decision.note.alert?.reason;
    assert.equal(told, expected);
    if (decision.type === 'fail') assert.equal(decision.failure.isBilled, false);
  });
}

test('progress that the upstream does not report grows from 10 towards 95 with the age of the task', () => {
  const shown = [0, 10, 40, 80, 160, 600, 86_000].map((seconds) => {
    const decision = readPoll({ ...fresh, createdAtMs: startMs - seconds * 1000 }, { status: 'in_progress' }, momentAt(startMs));
    return decision.type === 'note' ? decision.note.progress : undefined;
  });
  assert.deepEqual(shown, [10, 23, 52, 73, 89, 94, 95]);
});
