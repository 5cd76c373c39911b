import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { expandBody, listInputItems, nameItems, requireOutputs } from './expand-input.ts';

const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'call_1', output: '1' };

test('a text becomes one message of the user', () => {
  assert.deepEqual(listInputItems('hi'), [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]);
  assert.deepEqual(listInputItems(undefined), []);
});

test('stored items have a type, parts and an id; an existing id stays', () => {
  let count = 0;
  const named = nameItems([{ role: 'assistant', content: 'hi' }, call, output], (prefix) => `${prefix}_${++count}`);
  assert.deepEqual(named, [
    {
      role: 'assistant',
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    },
    { ...call, status: 'completed' },
    { ...output, id: 'fco_2', status: 'completed' },
  ]);
});

describe('open calls of the history', () => {
  test('open calls are answered by the input, or by the history itself', () => {
    requireOutputs([call], [output]);
    requireOutputs([call, output], [{ role: 'user', content: 'hi' }]);
  });

  test('an open call without its output is refused with the vendor’s message', () => {
    assert.throws(() => requireOutputs([call, { ...call, call_id: 'call_2' }], [output]), {
      message: 'No tool output found for function call call_2.',
      param: 'input',
      status: 400,
    });
  });

  test('calls of tools that the service runs need no output', () => {
    requireOutputs([{ id: 'ws_1', type: 'web_search_call', status: 'completed' }], []);
  });
});

test('an expanded request names no history', () => {
  const body = { model: 'm', previous_response_id: 'resp_1', conversation: null, input: 'hi', instructions: 'be brief' };
  assert.deepEqual(expandBody(body, [call]), { model: 'm', input: [call], instructions: 'be brief' });
});
