import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readClientEvent } from './client-event.ts';
import { LastResponse, namePrevious } from './last-response.ts';

const said = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi' }] };
const { id: _id, ...saidAgain } = said;
const asked = { type: 'message', role: 'user', content: 'Hello' };

test('the next request gets the items of the last response, and no other request does', () => {
  const last = new LastResponse(10_000);
  assert.equal(last.continue({ input: 'Hello', previous_response_id: 'resp_1' }).isContinued, false);
  last.remember({ input: 'Hello' }, { id: 'resp_1', output: [said] });
  assert.deepEqual(last.continue({ model: 'm', input: 'More', previous_response_id: 'resp_1' }), {
    isContinued: true,
    body: { model: 'm', input: [asked, saidAgain, { ...asked, content: 'More' }] },
  });
  assert.equal(last.continue({ input: 'More', previous_response_id: 'resp_2' }).isContinued, false);
  last.forget();
  assert.equal(last.continue({ input: 'More', previous_response_id: 'resp_1' }).isContinued, false);
});

test('what came before in the store is still named', () => {
  const last = new LastResponse(10_000);
  last.remember({ input: [asked], previous_response_id: 'resp_stored' }, { id: 'resp_2', output: [] });
  assert.deepEqual(last.continue({ input: [], previous_response_id: 'resp_2' }).body, {
    input: [asked],
    previous_response_id: 'resp_stored',
  });
});

test('reasoning is said again only with its proof, and too much is not remembered', () => {
  const last = new LastResponse(300);
  const proven = { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'x' };
  last.remember({ input: 'a' }, { id: 'resp_1', output: [{ id: 'rs_1', type: 'reasoning', summary: [] }, proven] });
  assert.deepEqual(last.continue({ input: [], previous_response_id: 'resp_1' }).body['input'], [{ ...asked, content: 'a' }, proven]);
  last.remember({ input: 'a'.repeat(300) }, { id: 'resp_2', output: [] });
  assert.equal(last.continue({ input: [], previous_response_id: 'resp_2' }).isContinued, false);
});

test('events of a continued response name the one before', () => {
  assert.deepEqual(namePrevious({ type: 'x', response: { id: 'resp_2', previous_response_id: null } }, 'resp_1'), {
    type: 'x',
    response: { id: 'resp_2', previous_response_id: 'resp_1' },
  });
  assert.deepEqual(namePrevious({ type: 'x' }, 'resp_1'), { type: 'x' });
});

test('a message asks for a stream, whatever it says of one, and for nothing that a WebSocket has not', () => {
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
