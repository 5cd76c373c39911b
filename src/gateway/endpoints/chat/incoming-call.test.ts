import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';

import { readRequestTarget } from '../../admission/read-request.ts';
import { readCall, readModelMethod } from './incoming-call.ts';

const [request, client] = [{} as IncomingMessage, {} as ServerResponse];
const server = { startedAtMs: 0, notReadyReasons: () => [] };
const http = { callId: 'req_1', request, client, response: client, report: undefined, server };

function read(rest: string, query = '') {
  const target = readRequestTarget(`/v1beta/models/${rest}${query}`);
  assert.ok(target);
  const { dialect, operation, pathModel, pathFraming } = readCall(readModelMethod(rest, target.query), { ...http, target });
  return { dialect: dialect.id, operation, pathModel, pathFraming };
}

test('the path has model, operation and framing', () => {
  const dialect = 'gemini-generate-content';
  const generate = { dialect, operation: 'generate', pathModel: 'x' };
  assert.deepEqual(read('x:generateContent', '?alt=sse'), { ...generate, pathFraming: undefined });
  assert.deepEqual(read('x:streamGenerateContent', '?alt=sse'), { ...generate, pathFraming: 'sse' });
  assert.deepEqual(read('models/x:streamGenerateContent'), { ...generate, pathFraming: 'json-array' });
  assert.deepEqual(read('x:countTokens'), { ...generate, operation: 'count-tokens', pathFraming: undefined });
});

test('an unknown method is a 404 that names the known ones', () => {
  for (const rest of ['x:batchGenerateContent', 'x:generatecontent', 'x:', 'x', 'x:constructor'])
    assert.throws(() => read(rest), {
      code: 'route_not_found',
      status: 404,
      message: /generateContent, streamGenerateContent or countTokens/,
    });
});

test('a path without a model is a 404', () => {
  for (const rest of [':generateContent', 'models/:generateContent', '%zz:generateContent'])
    assert.throws(() => read(rest), { code: 'route_not_found', message: /does not name a model/ });
});

test('a long method name is shortened in the message', () => {
  assert.throws(
    () => read(`x:${'y'.repeat(5000)}`),
    (error: Error) => error.message.length < 300,
  );
});

test('other chat routes take nothing from the path, and keep the keys of the query', () => {
  const target = readRequestTarget('/v1/messages?key=k');
  assert.ok(target);
  const call = readCall({ dialect: 'anthropic-messages', operation: 'count-tokens' }, { ...http, target });
  assert.equal(call.dialect.id, 'anthropic-messages');
  assert.equal(call.operation, 'count-tokens');
  assert.deepEqual(call.queryKeys, ['k']);
  assert.equal(call.pathModel, undefined);
});
