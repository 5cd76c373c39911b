import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { includeValues, type IncludeValue, isBareProof, readShown, showItem, showResponse } from './show-item.ts';

const cases: readonly (readonly [IncludeValue, JsonObject, JsonObject])[] = [
  ['file_search_call.results', { type: 'file_search_call', results: [{ text: 't' }] }, { type: 'file_search_call', results: null }],
  [
    'message.input_image.image_url',
    { type: 'message', content: [{ type: 'input_image', image_url: 'data:x', detail: 'low' }] },
    { type: 'message', content: [{ type: 'input_image', image_url: null, detail: 'low' }] },
  ],
  [
    'message.input_image.image_url',
    { role: 'user', content: [{ type: 'input_image', image_url: 'data:x' }] },
    { role: 'user', content: [{ type: 'input_image', image_url: null }] },
  ],
  [
    'computer_call_output.output.image_url',
    { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: 'data:x' } },
    { type: 'computer_call_output', output: { type: 'computer_screenshot' } },
  ],
  ['reasoning.encrypted_content', { type: 'reasoning', summary: [], encrypted_content: 'e' }, { type: 'reasoning', summary: [] }],
  ['web_search_call.results', { type: 'web_search_call', results: [] }, { type: 'web_search_call' }],
  [
    'web_search_call.action.sources',
    { type: 'web_search_call', action: { type: 'search', sources: [] } },
    { type: 'web_search_call', action: { type: 'search' } },
  ],
  ['code_interpreter_call.outputs', { type: 'code_interpreter_call', outputs: [] }, { type: 'code_interpreter_call', outputs: null }],
  [
    'message.output_text.logprobs',
    { type: 'message', content: [{ type: 'output_text', text: 'a', logprobs: [{ token: 'a' }] }] },
    { type: 'message', content: [{ type: 'output_text', text: 'a', logprobs: [] }] },
  ],
];

for (const [value, item, bare] of cases) {
  test(`${value} shows a member of ${JSON.stringify(item).slice(0, 60)}`, () => {
    assert.deepEqual(showItem(item, new Set()), bare);
    assert.equal(showItem(item, new Set([value])), item);
    assert.deepEqual(showItem(item, new Set(includeValues.filter((other) => other !== value))), bare);
    assert.equal(showItem(bare, new Set()), bare, 'an item without hidden members is returned as the same object');
  });
}

test('every value shows a member of an item', () => {
  assert.deepEqual(new Set(cases.map(([value]) => value)), new Set(includeValues));
});

test('malformed items stay unchanged', () => {
  const odd: readonly JsonObject[] = [
    {},
    { type: 'message', content: 'text' },
    { type: 'message', content: [null, 'x', 3] },
    { type: 'computer_call_output', output: 'text' },
    { type: 'web_search_call', action: null },
    { type: 'function_call', results: [1], outputs: [2], encrypted_content: 'kept' },
    { type: null, content: 1 },
  ];
  for (const item of odd) assert.equal(showItem(item, new Set()), item);
  assert.deepEqual(showResponse({ id: 'r', output: odd }, new Set()), { id: 'r', output: odd });
  assert.deepEqual(showResponse({ id: 'r' }, new Set()), { id: 'r' });
});

test('a request names the members to include, and one with store false also receives proofs of reasoning', () => {
  assert.deepEqual(readShown({ include: ['file_search_call.results', 'unknown'] }), new Set(['file_search_call.results']));
  assert.deepEqual(readShown({ store: false }), new Set(['reasoning.encrypted_content']));
  assert.deepEqual(readShown({ include: null }), new Set());
});

test("a bare proof from the gateway is distinguished from an item with reasoning and from the vendor's", () => {
  const thought = { type: 'reasoning', id: 'rs_gw1', summary: [], encrypted_content: 'x' };
  assert.equal(isBareProof(thought), true);
  assert.equal(isBareProof({ ...thought, id: 'rs_1' }), false);
  assert.equal(isBareProof({ ...thought, summary: [{ type: 'summary_text', text: 'Hm.' }] }), false);
  assert.deepEqual(showResponse({ id: 'r', output: [thought] }, new Set()), { id: 'r', output: [] });
  assert.deepEqual(showResponse({ output: [thought] }, new Set(['reasoning.encrypted_content'])), { output: [thought] });
});
