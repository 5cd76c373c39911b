import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openSealedRequest } from './task-seal.ts';
import type { VideoTask } from './video-task.ts';
import type { SimulatedProcess } from './testing/simulation/simulated-process.ts';
import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { TaskReport } from './video-upstreams.ts';

const minuteMs = 60_000;
const queued: TaskReport = { status: 'queued' };

function onlyTask(world: SimulatedWorld): VideoTask {
  const tasks = [...world.store.rows.values()].map(({ task }) => task);
  assert.equal(tasks.length, 1);
  return tasks[0] ?? assert.fail();
}

async function beginOne(world: SimulatedWorld, process: SimulatedProcess, isIdempotent = true): Promise<VideoTask> {
  const { type, task } = await process.tasks.begin(world.plan({ ...plainScript, isIdempotent }));
  assert.equal(type, 'begun');
  return task;
}

const logged = () => {
  const lines: string[] = [];
  const write = (facts: unknown, message?: string): void => void lines.push(`${JSON.stringify(facts)} ${message ?? ''}`);
  return { lines, logger: { info: write, warn: () => {}, error: write } };
};

test('the sealed intent is in the store before the upstream is called', async () => {
  const world = new SimulatedWorld(1);
  await beginOne(world, world.startProcess());
  assert.equal(onlyTask(world).phase, 'submitting');
  const { sealed, ...clear } = onlyTask(world);
  const kept = JSON.stringify(clear, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  for (const said of ['a cat', 'receiver.example', 'e30=']) assert.ok(!kept.includes(said) && !Buffer.from(sealed).includes(said), said);
  world.time.clear();
});

test('after the acceptance, the submission and its images are no longer stored', async () => {
  const world = new SimulatedWorld(1);
  const process = world.startProcess();
  const task = await beginOne(world, process);
  assert.ok(process.tasks.openRequest(task).submission);
  const accepted = await process.tasks.accept(task, 'job-1', { status: 'in_progress', progress: 12.7 });
  assert.deepEqual([accepted.phase, accepted.progress, accepted.upstreamTaskId], ['in_progress', 12, 'job-1']);
  assert.deepEqual(accepted, onlyTask(world));
  const request = openSealedRequest(world.sealer, accepted);
  assert.deepEqual([request?.prompt, request?.submission], ['a cat', undefined]);
  world.time.clear();
});

test('if the store fails to record the intent, the request is refused, and a row that exists nevertheless is withdrawn', async () => {
  for (const crashPoint of ['failed-before', 'failed-after'] as const) {
    const world = new SimulatedWorld(2);
    const process = world.startProcess();
    await world.time.pass(1);
    world.crashPoint = () => crashPoint;
    await assert.rejects(process.tasks.begin(world.plan(plainScript)), { code: 'tasks_unavailable' });
    world.crashPoint = () => 'none';
    await world.time.pass(120_000);
    assert.equal(world.store.rows.size, 0);
    assert.equal(world.upstreams.jobs.size, 0);
    world.time.clear();
  }
});

test('an idempotency key returns the same task for the same request, and a conflict for another', async () => {
  const world = new SimulatedWorld(3);
  const { tasks } = world.startProcess();
  const key = { keyId: 'key_1', key: 'abc', bodyHash: 'one', untilMs: world.time.nowMs() + 1000 };
  const first = await tasks.begin(world.plan(plainScript), key);
  const second = await tasks.begin(world.plan(plainScript), key);
  assert.deepEqual([second.type, second.task.id], ['existing', first.task.id]);
  await assert.rejects(tasks.begin(world.plan(plainScript), { ...key, bodyHash: 'two' }), { code: 'idempotency_conflict', status: 409 });
  world.time.clear();
});

test('a refused request leaves no task, and a ledger entry that costs nothing', async () => {
  const world = new SimulatedWorld(4);
  const process = world.startProcess();
  const task = await beginOne(world, process);
  const attempt = { upstream: 'other', credential: 'first', upstreamModel: 'm', errorCode: 'upstream_unreachable', durationMs: 5 };
  await process.tasks.refuse(task, {
    upstreamStatus: 400,
    errorCode: 'upstream_refused_request',
    durationMs: 20,
    failedAttempts: [attempt],
  });
  assert.equal(await process.tasks.find('alice', task.id), undefined);
  const entry = world.store.ledger.get(task.callId);
  assert.deepEqual(
    [
      entry?.end,
      entry?.upstreamStatus,
      entry?.errorCode,
      entry?.charge.amountNanoUsd,
      entry?.failedAttempts?.length,
      entry?.inputCharacters,
    ],
    ['failed', 400, 'upstream_refused_request', 0n, 1, 5],
  );
  world.time.clear();
});

test('an answer of the upstream during an outage of the store is recorded after it', async () => {
  const world = new SimulatedWorld(5);
  const process = world.startProcess();
  const [accepted, refused] = [await beginOne(world, process), await beginOne(world, process)];
  world.crashPoint = () => 'failed-before';
  const { upstreamTaskId } = world.upstreams.submit(accepted.callId);
  const told = await process.tasks.accept(accepted, upstreamTaskId, queued);
  assert.deepEqual([told.phase, told.upstreamTaskId], ['queued', upstreamTaskId]);
  await process.tasks.refuse(refused, { errorCode: 'upstream_refused_request', durationMs: 1 });
  // Longer than the lease: the task does not count as abandoned.
  await world.time.pass(50_000);
  assert.equal(world.store.rows.size, 2);
  world.crashPoint = () => 'none';
  await world.time.pass(60_000);
  assert.equal(onlyTask(world).phase, 'completed');
  assert.equal(world.store.ledger.get(refused.callId)?.end, 'failed');
  assert.equal(world.upstreams.jobs.size, 1);
  world.time.clear();
});

test('an acceptance that waits for the store is recorded before another process considers the task lost', async () => {
  for (let moment = 0; moment < 2500; moment += 100) {
    const world = new SimulatedWorld(9);
    // The other process always queries the store first.
    const [, first] = [world.startProcess(), world.startProcess()];
    assert.ok(first);
    await world.time.pass(1000);
    const tasks = await Promise.all(Array.from({ length: 5 }, () => beginOne(world, first, false)));
    world.crashPoint = () => 'failed-before';
    for (const task of tasks) {
      const { upstreamTaskId } = world.upstreams.submit(task.callId);
      await first.tasks.accept(task, upstreamTaskId, queued);
    }
    // Twice as long as the leases.
    await world.time.pass(60_000 + moment);
    world.crashPoint = () => 'none';
    await world.time.pass(minuteMs);
    const phases = new Set([...world.store.rows.values()].map(({ task }) => task.phase));
    assert.deepEqual([...phases], ['completed'], `the store is back after ${moment} ms`);
    world.time.clear();
  }
});

for (const [isIdempotent, expected] of [
  [true, 'completed'],
  [false, 'failed'],
] as const) {
  test(`a lost answer ${isIdempotent ? 'is requested again under the same key' : 'ends the task free of charge, and is logged'}`, async () => {
    const world = new SimulatedWorld(6);
    const { lines, logger } = logged();
    const process = world.startProcess({ logger });
    const task = await beginOne(world, process, isIdempotent);
    world.upstreams.submit(task.callId);
    await process.tasks.leaveUnclear(task);
    await world.time.pass(3000);
    const soon = onlyTask(world).phase;
    assert.ok(isIdempotent ? soon === 'queued' || soon === 'in_progress' : soon === 'failed', soon);
    await world.time.pass(120_000);
    const { phase, error, chargedNanoUsd } = onlyTask(world);
    assert.equal(phase, expected);
    assert.equal(world.upstreams.jobs.size, 1);
    if (!isIdempotent) {
      assert.deepEqual([error?.code, chargedNanoUsd], ['submission_lost', 0n]);
      const line = lines.find((text) => text.includes('submission lost'));
      const facts = [task.id, '"upstream":"xai"', new Date(task.createdAtMs).toISOString()];
      assert.deepEqual(
        facts.filter((fact) => line?.includes(fact) !== true),
        [],
      );
    }
    world.time.clear();
  });
}

test('a submission that takes minutes does not count as abandoned', async () => {
  const world = new SimulatedWorld(7);
  const [first] = [world.startProcess(), world.startProcess()];
  assert.ok(first);
  const task = await beginOne(world, first, false);
  await world.time.pass(10 * 60_000);
  assert.equal(onlyTask(world).phase, 'submitting');
  const { upstreamTaskId, reading } = world.upstreams.submit(task.callId);
  await first.tasks.accept(task, upstreamTaskId, reading);
  await world.time.pass(60_000);
  assert.equal(onlyTask(world).phase, 'completed');
  world.time.clear();
});

test('an acceptance after the task has ended is logged, and the client gets the task unchanged', async () => {
  const world = new SimulatedWorld(8);
  const { lines, logger } = logged();
  const first = world.startProcess({ logger });
  const task = await beginOne(world, first, false);
  const row = world.store.rows.get(task.id);
  assert.ok(row);
  Object.assign(row, { owner: undefined, leaseUntilMs: 0 });
  world.startProcess();
  await world.time.pass(2000);
  const told = await first.tasks.accept(task, 'job-late', queued);
  assert.deepEqual([told.phase, told.error?.code], ['failed', 'submission_lost']);
  assert.ok(lines.some((line) => line.includes('job-late')));
  world.time.clear();
});
