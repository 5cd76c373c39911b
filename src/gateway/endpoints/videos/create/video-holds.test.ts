import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeDesk } from '../../../admission/credits/testing/fake-desk.ts';
import { createFakeVideos, type FakeAnswer, fakeRequest, type FakeVideos } from '../testing/fake-videos.ts';
import type { VideoContext } from '../video-context.ts';
import { type MadeTask, VideoAttempts } from './video-attempts.ts';

const accepted: FakeAnswer = { status: 200, body: { request_id: 'up_1' } };
const refused: FakeAnswer = { status: 429, body: { error: { message: 'no' } } };

/** Asks for a video with a key that may spend only so much. */
function run(videos: FakeVideos, desk: FakeDesk): Promise<MadeTask> {
  const { gateway, caller } = videos.context;
  const context: VideoContext = {
    ...videos.context,
    gateway: { ...gateway, credits: desk },
    caller: { ...caller, limits: { spendPerDay: '1' } },
  };
  const wish = { request: fakeRequest(), source: undefined, idempotency: undefined, acceptedAtMs: gateway.clock.nowMs() };
  return new VideoAttempts(context, wish).run(videos.targets);
}

test('a video is held for until its task is recorded, which holds it from then on', async () => {
  const desk = new FakeDesk(10n ** 12n);
  const { task } = await run(createFakeVideos([{ id: 'a', answers: [accepted] }]), desk);
  assert.ok(task.heldNanoUsd > 0n);
  assert.deepEqual([desk.chargedNanoUsd, desk.open, desk.endedAgain], [task.heldNanoUsd, 0, 0]);
});

test('each attempt is held for by itself', async () => {
  const desk = new FakeDesk(10n ** 12n);
  const videos = createFakeVideos([
    { id: 'a', answers: [refused] },
    { id: 'b', answers: [accepted] },
  ]);
  await run(videos, desk);
  assert.deepEqual([desk.holds, desk.open], [2, 0]);
});

test('one that is not covered is asked of nobody, and leaves no task', async () => {
  const videos = createFakeVideos([{ id: 'a', answers: [accepted] }]);
  await assert.rejects(run(videos, new FakeDesk(1n)), { code: 'insufficient_credit' });
  assert.equal(videos.sent.length, 0);
  assert.deepEqual(await videos.store.listTasks({ userName: 'user', limit: 10, order: 'asc' }), []);
});
