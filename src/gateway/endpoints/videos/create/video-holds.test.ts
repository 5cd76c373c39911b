import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeDesk } from '../../../admission/credits/testing/fake-desk.ts';
import { createFakeVideos, type FakeAnswer, fakeRequest, type FakeVideos } from '../testing/fake-videos.ts';
import type { VideoContext } from '../video-context.ts';
import { type SubmittedTask, VideoAttempts } from './video-attempts.ts';

const accepted: FakeAnswer = { status: 200, body: { request_id: 'up_1' } };
const refused: FakeAnswer = { status: 429, body: { error: { message: 'no' } } };

/** Requests a video with a key that has a spend limit. */
function run(videos: FakeVideos, desk: FakeDesk): Promise<SubmittedTask> {
  const { gateway, caller } = videos.context;
  const context: VideoContext = {
    ...videos.context,
    gateway: { ...gateway, credits: desk },
    caller: { ...caller, limits: { spendPerDay: '1' } },
  };
  const order = { request: fakeRequest(), source: undefined, idempotency: undefined, acceptedAtMs: gateway.clock.nowMs() };
  return new VideoAttempts(context, order).run(videos.targets);
}

test('the hold of a video passes to its task when the task is recorded', async () => {
  const desk = new FakeDesk(10n ** 12n);
  const { task } = await run(createFakeVideos([{ id: 'a', answers: [accepted] }]), desk);
  assert.ok(task.heldNanoUsd > 0n);
  assert.deepEqual([desk.chargedNanoUsd, desk.open, desk.endedAgain], [task.heldNanoUsd, 0, 0]);
});

test('each attempt has a hold of its own', async () => {
  const desk = new FakeDesk(10n ** 12n);
  const videos = createFakeVideos([
    { id: 'a', answers: [refused] },
    { id: 'b', answers: [accepted] },
  ]);
  await run(videos, desk);
  assert.deepEqual([desk.holds, desk.open], [2, 0]);
});

test('a video that is not covered goes to no upstream and leaves no task', async () => {
  const videos = createFakeVideos([{ id: 'a', answers: [accepted] }]);
  await assert.rejects(run(videos, new FakeDesk(1n)), { code: 'insufficient_credit' });
  assert.equal(videos.sent.length, 0);
  assert.deepEqual(await videos.store.listTasks({ userName: 'user', limit: 10, order: 'asc' }), []);
});
