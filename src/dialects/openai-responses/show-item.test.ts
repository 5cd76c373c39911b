import assert from 'node:assert/strict';
import { test } from 'node:test';

import { textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { everyMember, isBareProof, readShownMembers, showItem } from './show-item.ts';

const search = { type: 'web_search_call', action: { type: 'search', query: 'q', sources: [] }, results: [{ url: 'u' }] };
const files = { type: 'file_search_call', queries: [], results: [{ text: 't' }] };
const code = { type: 'code_interpreter_call', code: '1', outputs: [{ type: 'logs', logs: '1' }] };
const thought = { type: 'reasoning', summary: [], encrypted_content: 'x' };
const screen = { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: 'data:' } };
const picture = { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:', detail: 'low' }] };

/** An item, what is left of it, and what shows it all. */
const rows: readonly (readonly [item: JsonObject, shown: JsonObject, include: readonly string[]])[] = [
  [
    search,
    { type: 'web_search_call', action: { type: 'search', query: 'q' } },
    ['web_search_call.action.sources', 'web_search_call.results'],
  ],
  [files, { ...files, results: null }, ['file_search_call.results']],
  [code, { ...code, outputs: null }, ['code_interpreter_call.outputs']],
  [thought, { type: 'reasoning', summary: [] }, ['reasoning.encrypted_content']],
  [screen, { ...screen, output: { type: 'computer_screenshot' } }, ['computer_call_output.output.image_url']],
  [picture, { ...picture, content: [{ type: 'input_image', detail: 'low' }] }, ['message.input_image.image_url']],
];

for (const [item, shown, include] of rows) {
  test(`${textOf(item.type) ?? ''} is shown in part, whole to who asks, and kept whole`, () => {
    assert.deepEqual(showItem(item, readShownMembers({})), shown);
    assert.deepEqual(showItem(item, readShownMembers({ include })), item);
    assert.deepEqual(showItem(item, everyMember), item);
  });
}

test('who has nothing stored gets the proofs of reasoning', () =>
  assert.equal(showItem(thought, readShownMembers({ store: false })), thought));

test('an item of nothing but a proof is told from one with thoughts', () => {
  assert.equal(isBareProof({ ...thought, id: 'rs_gw1' }), true);
  assert.equal(isBareProof(thought), false, 'one that the vendor made');
  assert.equal(isBareProof({ ...thought, id: 'rs_gw1', summary: [{ type: 'summary_text', text: 'Hm.' }] }), false);
  assert.equal(isBareProof(files), false);
});
