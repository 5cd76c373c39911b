import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeEnd, type TaskOutcome } from './end-task.ts';
import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { TaskParts } from './task-parts.ts';
import { sealRequest } from './task-seal.ts';
import type { SealedVideoRequest, VideoTask } from './video-task.ts';

const world = new SimulatedWorld(1);
const parts: TaskParts = { ...world.options(), wait: world.time.wait, owner: 'owner_1', announce: () => {} };
const { request, ...known } = world.plan(plainScript);

function taskWith(changed: Partial<VideoTask> = {}, asked: SealedVideoRequest = request): VideoTask {
  const sealed = sealRequest(world.sealer, 'task_1', asked);
  const open = { phase: 'in_progress', progress: 40, nextPollAtMs: 0, pollFailures: 0, upstreamTaskId: 'job_1' } as const;
  return { ...known, id: 'task_1', ...open, sealed, ...changed };
}

const endedAtMs = known.createdAtMs + 65_000;
const media = { key: 'media_1', mediaType: 'video/mp4', bytes: 3, sha256: 'ab' };
const completed: TaskOutcome = { type: 'completed', media, durationMs: 5000 };
const failedAs = (code: 'upstream_failed' | 'content_moderated', isBilled: boolean, durationMs?: number): TaskOutcome => ({
  type: 'failed',
  error: { code, message: 'No.' },
  isBilled,
  ...(durationMs === undefined ? {} : { durationMs }),
});

for (const [name, outcome, end, charged, outputVideoMs] of [
  ['a finished video is charged by its length', completed, 'finished', 6000n, 5000],
  ['a failed one costs nothing', failedAs('upstream_failed', false, 5000), 'failed', 0n, undefined],
  ['a withheld one costs what the vendor bills', failedAs('content_moderated', true, 4000), 'finished', 5000n, 4000],
  ['a withheld one of unknown length costs what it was to be', failedAs('content_moderated', true), 'finished', 9700n, 8700],
  ['a refusal by moderation that the vendor does not bill costs nothing', failedAs('content_moderated', false), 'failed', 0n, undefined],
] as const) {
  test(name, () => {
    const { entry } = describeEnd(parts, taskWith(), outcome, endedAtMs);
    assert.deepEqual([entry.end, entry.charge.amountNanoUsd, entry.usage.outputVideoMs], [end, charged, outputVideoMs]);
    assert.equal(entry.errorCode, outcome.type === 'failed' ? outcome.error.code : undefined);
  });
}

test('the ledger entry belongs to the request that made the task, and covers its whole life', () => {
  const { entry, expiresAtMs } = describeEnd(parts, taskWith(), completed, endedAtMs);
  const { callId, acceptedAtMs, durationMs, upstreamStatus, dialect, priceVersion, pricingParameters, translation, stream, estimated } =
    entry;
  assert.deepEqual(
    [callId, acceptedAtMs, durationMs, upstreamStatus, dialect, priceVersion, stream, estimated],
    [known.callId, known.createdAtMs, 65_000, 200, 'video-generations', '2026-11-01', false, false],
  );
  assert.deepEqual([pricingParameters, translation], [{ resolution: '480p' }, { upstreamDialect: 'xai-videos', notes: [] }]);
  assert.equal(expiresAtMs, endedAtMs + 7 * 24 * 3_600_000);
  // A clock that was set back never gives a negative duration.
  assert.equal(describeEnd(parts, taskWith(), completed, known.createdAtMs - 5).entry.durationMs, 0);
  const { upstreamTaskId: _id, ...untaken } = taskWith({ phase: 'submitting' });
  assert.equal(describeEnd(parts, untaken, failedAs('upstream_failed', false), endedAtMs).entry.upstreamStatus, undefined);
});

test('the entry names the price book of its charge, also if the book of its beginning is no longer known', () => {
  const rate: TaskParts['rate'] = () => ({ charge: { amountNanoUsd: 7n, lines: [] }, priceVersion: '2026-12-01' });
  const charged = describeEnd({ ...parts, rate }, taskWith(), completed, endedAtMs).entry;
  assert.deepEqual([charged.priceVersion, charged.charge.amountNanoUsd], ['2026-12-01', 7n]);
});

test('the callback names the video without its content, and its address is sealed; without an address there is no callback', () => {
  const { deliveries } = describeEnd(parts, taskWith(), completed, endedAtMs);
  assert.equal(deliveries.length, 1);
  const [delivery] = deliveries;
  assert.ok(delivery);
  const { id, payload, sealedUrl, ...rest } = delivery;
  assert.deepEqual(rest, { userName: 'alice', subject: 'task_1', eventType: 'video.completed', createdAtMs: endedAtMs });
  assert.match(id, /^msg_/);
  const event = JSON.parse(payload);
  assert.match(event.id, /^evt_/);
  assert.deepEqual(
    { ...event, id: '' },
    { id: '', object: 'event', created_at: Math.floor(endedAtMs / 1000), type: 'video.completed', data: { id: 'task_1' } },
  );
  assert.equal(Buffer.from(sealedUrl).toString(), 'https://receiver.example/hook');
  assert.equal(describeEnd(parts, taskWith(), failedAs('upstream_failed', false), endedAtMs).deliveries[0]?.eventType, 'video.failed');
  const { callbackUrl: _url, ...without } = request;
  assert.deepEqual(describeEnd(parts, taskWith({}, without), completed, endedAtMs).deliveries, []);
});

test('a task ends although its request can no longer be opened', () => {
  const { entry, deliveries } = describeEnd(parts, taskWith({ sealed: new Uint8Array(50) }), completed, endedAtMs);
  assert.deepEqual([entry.charge.amountNanoUsd, deliveries], [6000n, []]);
});

test('a file is stored as long as its key allowed at the request, else as configured', () => {
  const kept = (asked: SealedVideoRequest) => (describeEnd(parts, taskWith({}, asked), completed, endedAtMs).expiresAtMs ?? 0) - endedAtMs;
  assert.equal(kept({ ...request, retentionDays: 3 }), 3 * 86_400_000);
  assert.equal(kept(request), parts.retentionMs(taskWith()));
});
