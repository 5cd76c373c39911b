import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Authorize, authorizeRequests } from './authorize-requests.ts';
import type { UpstreamClient, UpstreamController, UpstreamHandler, UpstreamRequest } from './upstream-client.ts';

const request: UpstreamRequest = { path: '/v1/x?a=b', method: 'POST', headers: { accept: 'a' }, body: Buffer.from('{"n":1}') };

/** A client that answers each request at once with 200, and records the request. */
function createEcho(): UpstreamClient & { readonly sent: UpstreamRequest[] } {
  const sent: UpstreamRequest[] = [];
  const controller: UpstreamController = { abort: () => {}, pause: () => {}, resume: () => {} };
  return {
    sent,
    send: (one, handler) => {
      sent.push(one);
      handler.onRequestStart(controller);
      handler.onResponseStart(controller, 200, {});
      handler.onResponseEnd(controller);
    },
    close: () => Promise.resolve(),
  };
}

/** Sends through the authorizer; `heard` lists the events of the handler, in order. */
function send(authorize: Authorize, timeoutMs = 60_000) {
  const client = createEcho();
  const heard: string[] = [];
  const done = Promise.withResolvers<Error | undefined>();
  let steering: UpstreamController | undefined;
  const handler: UpstreamHandler = {
    onRequestStart: (controller) => {
      steering = controller;
      heard.push('start');
    },
    onResponseStart: (_controller, status) => void heard.push(String(status)),
    onResponseData: () => {},
    onResponseEnd: () => {
      heard.push('end');
      done.resolve(undefined);
    },
    onResponseError: (_controller, error) => {
      heard.push('error');
      done.resolve(error);
    },
  };
  authorizeRequests(client, authorize, { timeoutMs }).send(request, handler);
  return { client, heard, done: done.promise, leave: () => steering?.abort(new Error('left')) };
}

const sign: Authorize = (one) => ({ ...one, headers: { ...one.headers, signature: `${one.method} ${one.path} ${String(one.body)}` } });
const signed = 'POST /v1/x?a=b {"n":1}';

test('an authorizer sees method, path, headers and body; a synchronous one delays nothing', () => {
  const { client, heard } = send(sign);
  assert.deepEqual(heard, ['start', '200', 'end'], 'answered before send returned');
  assert.deepEqual(client.sent, [{ ...request, headers: { accept: 'a', signature: signed } }]);
});

test('the request waits for an asynchronous authorizer, and nothing is sent before', async () => {
  const ready = Promise.withResolvers<void>();
  const { client, heard, done } = send(async (one, signal) => {
    await ready.promise;
    return sign(one, signal);
  });
  assert.deepEqual([client.sent.length, heard], [0, ['start']]);
  ready.resolve();
  assert.equal(await done, undefined);
  assert.equal(client.sent[0]?.headers['signature'], signed);
  assert.deepEqual(heard, ['start', '200', 'end']);
});

for (const [how, authorize] of [
  ['throws', () => assert.fail('token sk-secret')],
  ['rejects', () => Promise.reject(new Error('token sk-secret'))],
] as const) {
  test(`an authorizer that ${how} fails its request, nothing is sent, and its message is not passed on`, async () => {
    const { client, heard, done } = send(authorize);
    const error = await done;
    assert.equal((error as { code?: string } | undefined)?.code, 'AUTHORIZATION_FAILED');
    assert.doesNotMatch(String(error), /secret/);
    assert.deepEqual([client.sent.length, heard], [0, ['start', 'error']]);
  });
}

test('an authorizer that hangs is aborted at its limit', async () => {
  let told: AbortSignal | undefined;
  const { client, done } = send((_one, signal) => {
    told = signal;
    return new Promise(() => {});
  }, 10);
  assert.match(String(await done), /no credential within 10 ms/);
  assert.deepEqual([client.sent.length, told?.aborted], [0, true]);
});

test('a caller that aborts meanwhile receives nothing more, and nothing is sent', async () => {
  const ended = Promise.withResolvers<void>();
  const { client, heard, leave } = send((one, signal) => {
    signal.addEventListener('abort', () => ended.resolve());
    return ended.promise.then(() => one);
  });
  leave();
  await ended.promise;
  await new Promise((resolve) => void setImmediate(resolve));
  assert.deepEqual([client.sent.length, heard], [0, ['start']]);
});
