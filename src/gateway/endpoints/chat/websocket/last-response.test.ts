import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readClientEvent } from './client-event.ts';
import { LastResponse, namePrevious } from './last-response.ts';

const reply = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi' }] };
const { id: _id, ...resent } = reply;
const question = { type: 'message', role: 'user', content: 'Hello' };

test('the next request gets the items of the last response, and no other request does', () => {
  const last = new LastResponse(10_000);
  assert.equal(last.continue({ input: 'Hello', previous_response_id: 'resp_1' }).isContinued, false);
  last.remember({ input: 'Hello' }, { id: 'resp_1', output: [reply] });
  assert.deepEqual(last.continue({ model: 'm', input: 'More', previous_response_id: 'resp_1' }), {
    isContinued: true,
    body: { model: 'm', input: [question, resent, { ...question, content: 'More' }] },
  });
  assert.equal(last.continue({ input: 'More', previous_response_id: 'resp_2' }).isContinued, false);
  last.forget();
  assert.equal(last.continue({ input: 'More', previous_response_id: 'resp_1' }).isContinued, false);
});

test('an earlier stored response is still named', () => {
  const last = new LastResponse(10_000);
  last.remember({ input: [question], previous_response_id: 'resp_stored' }, { id: 'resp_2', output: [] });
  assert.deepEqual(last.continue({ input: [], previous_response_id: 'resp_2' }).body, {
    input: [question],
    previous_response_id: 'resp_stored',
  });
});

test('reasoning is repeated only with its proof, and too large a response is not remembered', () => {
  const last = new LastResponse(300);
  const proven = { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'x' };
  last.remember({ input: 'a' }, { id: 'resp_1', output: [{ id: 'rs_1', type: 'reasoning', summary: [] }, proven] });
  assert.deepEqual(last.continue({ input: [], previous_response_id: 'resp_1' }).body['input'], [{ ...question, content: 'a' }, proven]);
  last.remember({ input: 'a'.repeat(300) }, { id: 'resp_2', output: [] });
  assert.equal(last.continue({ input: [], previous_response_id: 'resp_2' }).isContinued, false);
});

test('events of a continued response name the previous one', () => {
  assert.deepEqual(namePrevious({ type: 'x', response: { id: 'resp_2', previous_response_id: null } }, 'resp_1'), {
    type: 'x',
    response: { id: 'resp_2', previous_response_id: 'resp_1' },
  });
  assert.deepEqual(namePrevious({ type: 'x' }, 'resp_1'), { type: 'x' });
});

test('a message asks for a stream even if it says otherwise, and fields that WebSockets lack are refused', () => {
  assert.deepEqual(readClientEvent({ type: 'response.create', model: 'm', input: 'x', stream: false, background: false }), {
    body: { model: 'm', input: 'x', stream: true },
    generate: true,
  });
  assert.equal(readClientEvent({ type: 'response.create', generate: false }).generate, false);
  const wrong: readonly (readonly [JsonObject, string])[] = [
    [{}, 'type'],
    [{ type: 'response.cancel' }, 'type'],
    [{ type: 7 }, 'type'],
    [{ type: 'response.create', background: true }, 'background'],
    [{ type: 'response.create', stream_id: 'a' }, 'stream_id'],
    [{ type: 'response.create', generate: 'no' }, 'generate'],
  ];
  for (const [message, param] of wrong)
    assert.throws(
      () => readClientEvent(message),
      (error: GatewayError) => error.param === param,
    );
});
