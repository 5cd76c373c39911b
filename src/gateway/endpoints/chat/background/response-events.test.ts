import assert from 'node:assert/strict';
import { test } from 'node:test';

import { membersOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import { PartialOutput } from '../../../../dialects/openai-responses/partial-output.ts';
import { eventsOfResponse, isTerminal, renumberEvent, typeOfEvent, writeEvent } from './response-events.ts';

const annotation = { type: 'url_citation', start_index: 0, end_index: 2, url: 'https://a.example', title: 'A' };
const output: readonly JsonObject[] = [
  { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Thinking' }] },
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
  { id: 'ci_1', type: 'code_interpreter_call', status: 'completed', code: 'print(1)', container_id: 'c', outputs: null },
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [
      { type: 'output_text', text: 'Grüße 🌊', annotations: [annotation], logprobs: [] },
      { type: 'refusal', refusal: 'No.' },
    ],
  },
  { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
  { id: 'cu_1', type: 'computer_call', status: 'completed', call_id: 'call_2', action: { type: 'wait' } },
];
const response: JsonObject = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  background: false,
  usage: { total_tokens: 3 },
  output,
};

const read = (events: readonly string[]): readonly JsonObject[] => events.map((event) => parseJsonObject(event) ?? {});

test('the events of a response that was not streamed follow the order of the grammar, item after item', () => {
  const events = read(eventsOfResponse(response));
  assert.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_, index) => index),
  );
  const types = events.map(({ type }) => textOf(type)?.replace('response.', ''));
  assert.deepEqual(types, [
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'web_search_call.in_progress',
    'web_search_call.searching',
    'web_search_call.completed',
    'output_item.done',
    'output_item.added',
    'code_interpreter_call.in_progress',
    'code_interpreter_call_code.delta',
    'code_interpreter_call_code.done',
    'code_interpreter_call.interpreting',
    'code_interpreter_call.completed',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.annotation.added',
    'output_text.done',
    'content_part.done',
    'content_part.added',
    'refusal.delta',
    'refusal.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'output_item.added',
    'output_item.done',
    'completed',
  ]);
  assert.deepEqual(membersOf(events[0]?.['response'])['output'], []);
  assert.equal(membersOf(events[0]?.['response'])['usage'], null);
  assert.deepEqual(events.at(-1)?.['response'], response);
});

test('the output can be reconstructed from the events, at any point of them', () => {
  const events = eventsOfResponse(response);
  const whole = new PartialOutput();
  for (const event of events) whole.read(typeOfEvent(event), parseJsonObject(event) ?? {});
  assert.deepEqual(whole.items(), output);
  for (let cut = 0; cut < events.length; cut += 1) {
    const part = new PartialOutput();
    for (const event of events.slice(0, cut)) part.read(typeOfEvent(event), parseJsonObject(event) ?? {});
    const items = part.items();
    assert.deepEqual(
      items.map(({ id }) => id),
      output.slice(0, items.length).map(({ id }) => id),
    );
    for (const [index, item] of items.slice(0, -1).entries()) assert.deepEqual(item, output[index]);
  }
});

test('the type of an event is read from its beginning, whatever the event contains', () => {
  const event = writeEvent('response.output_text.delta', 7, { sequence_number: 99, type: 'x', delta: '","type":"response.completed"' });
  assert.equal(typeOfEvent(event), 'response.output_text.delta');
  assert.equal(parseJsonObject(event)?.['sequence_number'], 7);
  assert.deepEqual([isTerminal('response.cancelled'), isTerminal('response.in_progress'), isTerminal('error')], [true, false, false]);
});

test('an event gets another number without being parsed, unless it is about the response or has another order of members', () => {
  const event = { delta: 'a","response":{', content_index: 0 };
  assert.equal(renumberEvent(writeEvent('response.output_text.delta', 7, event), 12), writeEvent('response.output_text.delta', 12, event));
  assert.equal(renumberEvent(writeEvent('response.completed', 7, { response: {} }), 12), undefined);
  assert.equal(renumberEvent('{"sequence_number":7,"type":"response.output_text.delta","delta":"a"}', 12), undefined);
  assert.equal(renumberEvent('{"type":"response.output_text.delta","delta":"a"}', 12), undefined);
});
