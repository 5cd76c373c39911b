import assert from 'node:assert/strict';
import { test } from 'node:test';

import { authorizeRequests, type Renew } from './authorize-requests.ts';
import type { UpstreamClient, UpstreamController, UpstreamHandler, UpstreamRequest } from './upstream-client.ts';

const request: UpstreamRequest = { path: '/v1/x', method: 'POST', headers: {}, body: Buffer.from('{}') };

/** Sends a request. A 401 waits until the test decides whether there is another credential. */
function refuseFirst() {
  const steps: string[] = [];
  const handlers: UpstreamHandler[] = [];
  const controller: UpstreamController = {
    abort: () => void steps.push('abort'),
    pause: () => void steps.push('pause'),
    resume: () => void steps.push('resume'),
  };
  const client: UpstreamClient = {
    send: ({ headers }, handler) => {
      steps.push(`sent with ${headers['key']}`);
      handlers.push(handler);
      handler.onRequestStart(controller);
    },
    close: () => Promise.resolve(),
  };
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const renew: Renew = (_sent, status) => (status === 401 ? promise : undefined);
  let key = 0;
  const authorized = authorizeRequests(client, (one) => ({ ...one, headers: { key: String((key += 1)) } }), { timeoutMs: 60_000, renew });
  let steering: UpstreamController | undefined;
  authorized.send(request, {
    onRequestStart: (own) => void (steering = own),
    onResponseStart: (_own, status) => void steps.push(String(status)),
    onResponseData: (_own, piece) => void steps.push(piece.toString()),
    onResponseEnd: () => void steps.push('end'),
    onResponseError: (_own, error) => void steps.push(error.message),
  });
  const answer = (at: number, status: number): void => {
    handlers[at]?.onResponseStart(controller, status, {});
    handlers[at]?.onResponseData(controller, Buffer.from(`body ${at}`));
    handlers[at]?.onResponseEnd(controller);
  };
  /** Everything that follows from the decision has happened when the client is closed. */
  const decide = async (isRenewed: boolean): Promise<void> => {
    resolve(isRenewed);
    await authorized.close();
  };
  return { steps, answer, decide, steer: () => steering ?? assert.fail() };
}

test('a refused answer is dropped if there is another credential, and the request is sent once more', async () => {
  const { steps, answer, decide } = refuseFirst();
  answer(0, 401);
  assert.deepEqual(steps, ['sent with 1', 'pause'], 'the connection is not read meanwhile');
  await decide(true);
  answer(1, 200);
  assert.deepEqual(steps, ['sent with 1', 'pause', 'abort', 'sent with 2', '200', 'body 1', 'end']);
});

test('without another credential the refused answer passes, and its connection is read again', async () => {
  const { steps, answer, decide } = refuseFirst();
  answer(0, 401);
  await decide(false);
  assert.deepEqual(steps.slice(2), ['401', 'body 0', 'end', 'resume']);
});

test('a second refusal passes', async () => {
  const { steps, answer, decide } = refuseFirst();
  answer(0, 401);
  await decide(true);
  answer(1, 401);
  assert.deepEqual(steps.slice(4), ['401', 'body 1', 'end']);
});

test('a caller that has stopped reading is not overtaken', async () => {
  const { steps, answer, decide, steer } = refuseFirst();
  steer().pause();
  answer(0, 401);
  await decide(false);
  assert.equal(steps.includes('resume'), false);
});

test('a caller that leaves meanwhile receives nothing', async () => {
  const { steps, answer, decide, steer } = refuseFirst();
  answer(0, 401);
  steer().abort(new Error('left'));
  await decide(true);
  assert.deepEqual(
    steps.filter((step) => /^(?:\d+|body|end|sent with 2)/.test(step)),
    [],
  );
});
