import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { createFakeExchange } from '../attempts/exchange/testing/fake-exchange.ts';
import type { ClientReply } from './client-reply.ts';
import { writeError, writeReply } from './write-reply.ts';

const start = () => {
  const { response } = createFakeExchange({ dialect: chatDialects['openai-chat'] });
  return { response, to: response as unknown as ClientReply };
};

test('the length is that of the bytes, not of the characters', () => {
  const { response, to } = start();
  writeReply(to, 201, { 'x-a': 'b' }, Buffer.from('grün'));
  assert.equal(response.status, 201);
  assert.deepEqual(response.headers, { 'x-a': 'b', 'content-length': '5' });
  assert.equal(response.text(), 'grün');
});

test('written-twice and written-to-nobody: such replies do nothing', () => {
  const { response, to } = start();
  writeReply(to, 200, {}, Buffer.from('first'));
  writeReply(to, 500, {}, Buffer.from('second'));
  assert.equal(response.status, 200);
  assert.equal(response.text(), 'first');
  const gone = start();
  gone.response.destroyed = true;
  writeReply(gone.to, 200, {}, Buffer.from('x'));
  assert.equal(gone.response.headersSent, false);
});

for (const [id, { voice }] of Object.entries(chatDialects)) {
  test(`an error in ${id} carries the id of the call, the headers of the error and no internals`, () => {
    const { response, to } = start();
    const error = new GatewayError('method_not_allowed', 'use POST', {
      headers: { allow: 'POST' },
      retryAfterSeconds: 3,
      internal: 'secret-cause',
    });
    writeError(to, voice, error, 'req_1');
    assert.equal(response.status, 405);
    assert.equal(response.headers['x-weir-request-id'], 'req_1');
    assert.equal(response.headers['allow'], 'POST');
    assert.equal(response.headers['retry-after'], '3');
    assert.match(response.headers['content-type'] ?? '', /^application\/json/);
    assert.match(response.text(), /use POST/);
    assert.doesNotMatch(response.text(), /secret-cause/);
  });
}

test('a client that requested an array receives its error in one', () => {
  const { response, to } = start();
  writeError(to, chatDialects['gemini-generate-content'].voice, new GatewayError('invalid_json', 'no'), 'req_1', 'json-array');
  assert.ok(Array.isArray(JSON.parse(response.text())));
});
