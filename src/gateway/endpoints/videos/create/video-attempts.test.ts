import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import { createFakeVideos, type FakeAnswer, fakeRequest, type FakeVideos } from '../testing/fake-videos.ts';
import { type SubmittedTask, VideoAttempts } from './video-attempts.ts';

const accepted: FakeAnswer = { status: 200, body: { request_id: 'up_1' } };
const refused = (status: number): FakeAnswer => ({ status, body: { error: { message: `no: ${status}` } } });

const idempotency = { keyId: 'k', key: 'once', bodyHash: 'hash', untilMs: Number.MAX_SAFE_INTEGER };

function run(videos: FakeVideos, key?: typeof idempotency): Promise<SubmittedTask> {
  const order = { request: fakeRequest(), source: undefined, idempotency: key, acceptedAtMs: videos.context.gateway.clock.nowMs() };
  return new VideoAttempts(videos.context, order).run(videos.targets);
}

const start = (...answers: readonly FakeAnswer[]) =>
  createFakeVideos(answers.map((answer, index) => ({ id: ['a', 'b', 'c'][index] ?? 'd', answers: [answer] })));

const to = ({ sent }: FakeVideos): string => sent.map((one) => one.to).join('');

/** The open tasks, after refusals are recorded. */
async function openTasks({ store }: FakeVideos): Promise<readonly string[]> {
  await new Promise(setImmediate);
  const tasks = await store.listTasks({ userName: 'user', limit: 10, order: 'asc' });
  return tasks.map(({ phase }) => phase);
}

test('an accepted submission is a task with its hold', async () => {
  const videos = start(accepted);
  const { task } = await run(videos);
  assert.equal(task.upstreamTaskId, 'up_1');
  assert.equal(task.callId, 'req_client');
  assert.deepEqual(task.pricingParameters, { resolution: '480p' });
  assert.equal(task.heldUsage.outputVideoMs, 5000);
  assert.equal(videos.sent[0]?.request.headers['idempotency-key'], 'req_client');
  assert.equal(videos.tasks.openRequest(task).durationSeconds, 5);
});

const movesOn: readonly (readonly [what: string, answer: FakeAnswer])[] = [
  ['no connection', 'ECONNREFUSED'],
  ['no such host', 'ENOTFOUND'],
  ['no connection in time', 'CONNECT_TIMEOUT'],
  ['an invalid certificate', 'CERT_HAS_EXPIRED'],
  ['429', refused(429)],
  ['401', refused(401)],
  ['403', refused(403)],
  ['402', refused(402)],
  ['503 by the vendor’s own word', refused(503)],
  ['529 by the vendor’s own word', refused(529)],
  ['503 in a relay’s own shape', { status: 503, body: { code: 'no_available_channel', message: 'none', data: null } }],
];

for (const [what, answer] of movesOn) {
  test(`${what}: nothing was accepted, and the next target gets the request`, async () => {
    const videos = start(answer, accepted);
    const { task } = await run(videos);
    assert.deepEqual([to(videos), task.upstream], ['ab', 'b']);
    assert.deepEqual(await openTasks(videos), ['queued']);
    // The first attempt is in the books with an id of its own, at no charge.
    const row = await videos.store.findEntry('req_client');
    assert.deepEqual([row?.end, row?.upstream, row?.charge.amountNanoUsd], ['failed', 'a', 0n]);
    assert.notEqual(task.callId, 'req_client');
  });
}

const staysUnclear: readonly (readonly [what: string, answer: FakeAnswer])[] = [
  ['a connection that broke', 'ECONNRESET'],
  ['a connection that closed', 'CONNECTION_CLOSED'],
  ['500', refused(500)],
  ['502', refused(502)],
  ['504', refused(504)],
  ['503 without a word', { status: 503, body: {} }],
  ['503 of a balancer', { status: 503, body: { message: 'Service Unavailable' } }],
  ['an answer without an id', { status: 200, body: {} }],
];

for (const [what, answer] of staysUnclear) {
  test(`${what}: it may have been accepted, and no other target gets the request`, async () => {
    const videos = start(answer, accepted);
    const { task } = await run(videos);
    assert.equal(to(videos), 'a');
    assert.equal(task.phase, 'submitting');
    assert.deepEqual(await openTasks(videos), ['submitting']);
  });
}

for (const status of [400, 422, 413]) {
  test(`${status}: the client gets the upstream's refusal and its message`, async () => {
    const videos = start(refused(status), accepted);
    await assert.rejects(run(videos), (error) => {
      assert.ok(error instanceof GatewayError);
      assert.deepEqual([error.code, error.status], ['upstream_refused_request', status]);
      assert.match(error.message, new RegExp(`no: ${status}`));
      return true;
    });
    assert.equal(to(videos), 'a');
    assert.deepEqual(await openTasks(videos), []);
  });
}

test('a refusal of the content is not treated as a refused credential', async () => {
  const videos = start({ status: 403, body: { code: 'permission', error: 'Content violates usage guidelines.' } }, accepted);
  await assert.rejects(run(videos), (error) => {
    assert.ok(error instanceof GatewayError);
    assert.deepEqual([error.code, error.status, error.message], ['upstream_refused_request', 403, 'Content violates usage guidelines.']);
    return true;
  });
  assert.equal(to(videos), 'a');
  assert.deepEqual(await openTasks(videos), []);
});

test('an upstream that is overloaded, without another target, results in a 503 and no task', async () => {
  const videos = start(refused(503));
  await assert.rejects(run(videos), (error) => {
    assert.ok(error instanceof GatewayError);
    assert.deepEqual([error.code, error.status, error.message], ['upstream_overloaded', 503, 'no: 503']);
    return true;
  });
  assert.deepEqual(await openTasks(videos), []);
  const row = await videos.store.findEntry('req_client');
  assert.deepEqual([row?.end, row?.charge.amountNanoUsd], ['failed', 0n]);
});

test('if no target accepts it, the client gets the last failure and no task stays open', async () => {
  const videos = start(refused(429), 'ECONNREFUSED', refused(401), accepted);
  await assert.rejects(run(videos), (error) => error instanceof GatewayError && error.code === 'upstream_credentials_rejected');
  assert.equal(to(videos), 'abc');
  assert.deepEqual(await openTasks(videos), []);
});

test('a repetition gets the task of the first request and is not sent', async () => {
  const videos = createFakeVideos([{ id: 'a', answers: [accepted, accepted] }]);
  const first = await run(videos, idempotency);
  const second = await run(videos, idempotency);
  assert.equal(second.task.id, first.task.id);
  assert.equal(to(videos), 'a');
  await assert.rejects(
    run(videos, { ...idempotency, bodyHash: 'other' }),
    (error) => error instanceof GatewayError && error.code === 'idempotency_conflict',
  );
});

test('a key is free again if the first target accepted nothing', async () => {
  const videos = start('ECONNREFUSED', accepted);
  const { task } = await run(videos, idempotency);
  assert.deepEqual([to(videos), task.upstream], ['ab', 'b']);
});

test('a target whose interface cannot express the request is skipped', async () => {
  const videos = createFakeVideos([
    { id: 'a', protocol: 'openai-videos', answers: [accepted] },
    { id: 'b', answers: [accepted] },
  ]);
  // OpenAI's interface makes no videos of five seconds.
  const order = { request: fakeRequest({ durationSeconds: 5 }), source: undefined, idempotency: undefined, acceptedAtMs: 0 };
  const { task } = await new VideoAttempts(videos.context, order).run(videos.targets);
  assert.deepEqual([to(videos), task.upstream], ['b', 'b']);
});

test('the submission is stored only for an upstream that supports idempotency keys', async () => {
  for (const [protocol, isKept] of [
    ['xai-videos', false],
    ['video-generations', true],
  ] as const) {
    const videos = createFakeVideos([{ id: 'a', protocol, answers: ['ECONNRESET'] }]);
    const { task } = await run(videos);
    assert.equal(videos.tasks.openRequest(task).submission !== undefined, isKept, protocol);
  }
});

test('if the next attempt cannot be recorded, the client gets the reason and no task stays open', async () => {
  const videos = start(refused(429), accepted);
  const { context, tasks } = videos;
  let begun = 0;
  const begin: typeof tasks.begin = (intent, key) => {
    begun += 1;
    return begun === 1 ? tasks.begin(intent, key) : Promise.reject(new GatewayError('tasks_unavailable', 'the store is unavailable'));
  };
  const broken = { ...videos, context: { ...context, videos: { ...context.videos, tasks: { ...tasks, begin } } } };
  await assert.rejects(run(broken), (error) => error instanceof GatewayError && error.code === 'tasks_unavailable');
  assert.deepEqual([begun, to(videos)], [2, 'a']);
  assert.deepEqual(await openTasks(videos), []);
});

test('a submission that fails by an internal error stays unclear', async () => {
  const videos = start(accepted);
  const { context, tasks } = videos;
  const unclear: string[] = [];
  const leaveUnclear: typeof tasks.leaveUnclear = (task) => {
    unclear.push(task.callId);
    return tasks.leaveUnclear(task);
  };
  const send = (): never => {
    throw new TypeError('a bug');
  };
  const targets = videos.targets.map(({ upstream, ...target }) => ({
    ...target,
    upstream: { ...upstream, client: { ...upstream.client, send } },
  }));
  const watched = { ...videos, targets, context: { ...context, videos: { ...context.videos, tasks: { ...tasks, leaveUnclear } } } };
  await assert.rejects(run(watched), TypeError);
  assert.deepEqual(unclear, ['req_client']);
});
