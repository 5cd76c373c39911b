import assert from 'node:assert/strict';
import { test } from 'node:test';

import { gatherReplies } from './gather-replies.ts';
import type { UpstreamController, UpstreamHandler, UpstreamRequest } from './upstream-client.ts';

/** A client whose requests are answered by the test. */
function createFakeClient() {
  const open: { readonly body: string; readonly handler: UpstreamHandler; readonly controller: UpstreamController }[] = [];
  const aborted: string[] = [];
  const send = (request: UpstreamRequest, handler: UpstreamHandler): void => {
    const body = String(request.body);
    const controller = { abort: () => void aborted.push(body), pause: () => {}, resume: () => {} };
    open.push({ body, handler, controller });
    handler.onRequestStart(controller);
  };
  const answer = (body: string, status: number, reply: string): void => {
    const { handler, controller } = open.find((one) => one.body === body) ?? assert.fail(body);
    handler.onResponseStart(controller, status, { 'content-type': 'application/json', 'content-length': String(reply.length) });
    handler.onResponseData(controller, Buffer.from(reply));
    handler.onResponseEnd(controller);
  };
  return { open, aborted, answer, send };
}

function gather(parts: readonly string[], options: { readonly bytesMax?: number; readonly abortAt?: 'start' } = {}) {
  const client = createFakeClient();
  const seen: string[] = [];
  let controller: UpstreamController | undefined;
  const gathered = gatherReplies(client, {
    bodies: parts.map((part) => Buffer.from(part)),
    join: (replies) => Buffer.from(replies.map(String).join('+')),
    partsAtOnce: 2,
    bytesMax: options.bytesMax ?? 1000,
  });
  gathered.send(
    { path: '/p', method: 'POST', headers: { a: 'b' }, body: undefined },
    {
      onRequestStart: (own) => {
        controller = own;
        seen.push('request');
      },
      onResponseStart: (own, status, headers) => {
        seen.push(`${status} ${Object.keys(headers).join()}`);
        if (options.abortAt === 'start') own.abort(new Error('enough'));
      },
      onResponseData: (_own, piece) => void seen.push(piece.toString()),
      onResponseEnd: () => void seen.push('end'),
      onResponseError: (_own, error) => void seen.push(`error ${error.message}`),
    },
  );
  return { ...client, seen, controller: controller ?? assert.fail('no controller') };
}

test('parts are sent a few at a time, and their replies become one in the order of the parts', () => {
  const { open, answer, seen } = gather(['1', '2', '3']);
  assert.deepEqual(
    open.map(({ body }) => body),
    ['1', '2'],
  );
  answer('2', 200, 'two');
  assert.deepEqual(open.at(-1)?.body, '3');
  answer('3', 200, 'three');
  assert.deepEqual(seen, ['request']);
  answer('1', 200, 'one');
  assert.deepEqual(seen, ['request', '200 content-type', 'one+two+three', 'end']);
});

test('the first refusal is the reply to the whole, and ends the other parts', () => {
  const { open, answer, seen, aborted } = gather(['1', '2', '3']);
  answer('1', 429, 'slow');
  assert.deepEqual(seen, ['request', '429 content-type', 'slow', 'end']);
  assert.deepEqual([open.length, aborted], [2, ['2']]);
  answer('2', 200, 'late');
  assert.equal(seen.length, 4);
});

test('a connection that breaks fails the whole once', () => {
  const { open, seen, aborted } = gather(['1', '2']);
  for (const { handler, controller } of open) handler.onResponseError(controller, new Error('broken'));
  assert.deepEqual(seen, ['request', 'error broken']);
  assert.deepEqual(aborted, ['2']);
});

test('replies beyond the limit fail the whole', () => {
  const { answer, seen } = gather(['1', '2'], { bytesMax: 5 });
  answer('1', 200, 'one');
  answer('2', 200, 'two');
  assert.deepEqual(seen, ['request', 'error the replies of the parts have more than 5 bytes']);
});

test('a part that gets its connection only after the end is aborted', () => {
  const { open, controller, aborted } = gather(['1', '2']);
  controller.abort(new Error('the client left'));
  for (const part of open) part.handler.onRequestStart(part.controller);
  assert.deepEqual(aborted, ['1', '2', '1', '2']);
});

test('a handler that aborts receives nothing more, before and after the reply has begun', () => {
  const before = gather(['1', '2']);
  before.controller.abort(new Error('the client left'));
  assert.deepEqual(before.aborted, ['1', '2']);
  before.answer('1', 200, 'one');
  assert.deepEqual(before.seen, ['request']);
  const after = gather(['1'], { abortAt: 'start' });
  after.answer('1', 200, 'one');
  assert.deepEqual(after.seen, ['request', '200 content-type']);
});
