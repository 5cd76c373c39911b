import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { editRequest } from './edit-request.ts';
import { readFacts } from './read-facts.ts';

function edit(text: string, upstreamModel: string): Buffer {
  const bytes = Buffer.from(text);
  const body = JSON.parse(text) as JsonObject;
  const fit = { requestedModel: body.model as string, upstreamModel, acceptsStreamOptions: true };
  return applyJsonEdits(bytes, editRequest({ operation: 'generate', body, headers: {} }, bytes, fit));
}

test('a body with the target’s model is unchanged', () => {
  const bytes = Buffer.from('{"model":"a"}');
  const request = { operation: 'generate', body: { model: 'a' }, headers: {} } as const;
  const edits = editRequest(request, bytes, { requestedModel: 'a', upstreamModel: 'a', acceptsStreamOptions: true });
  assert.equal(applyJsonEdits(bytes, edits), bytes);
});

test('only the value of the outer model changes, for any surrounding text', () => {
  const text =
    '{ "messages":[{"model":"fake","role":"user","content":"\\"model\\":\\"a\\" 水"}],\n "mod\\u0065l" : "alias" , "stream":true}';
  assert.equal(edit(text, 'real"1').toString(), text.replace('"alias"', '"real\\"1"'));
});

const factsOf = (body: JsonObject, operation: 'generate' | 'count-tokens' = 'generate') => readFacts({ operation, body, headers: {} });

test('facts of a request are read', () => {
  const body = { model: 'm', max_tokens: 100, stream: true, system: 'abc', messages: [{ role: 'user', content: 'defg' }] };
  assert.deepEqual(factsOf(body), {
    requestedModel: 'm',
    stream: true,
    outputTokensMax: 100,
    inputCharacters: 11,
    needs: [],
    keepsReply: false,
  });
  assert.deepEqual(factsOf({ model: 'm', messages: [] }), {
    requestedModel: 'm',
    stream: false,
    inputCharacters: 0,
    needs: [],
    keepsReply: false,
  });
});

test('a compaction by the vendor is a fact, other edits of the context are not', () => {
  const withEdits = (context_management: JsonValue) => factsOf({ model: 'm', messages: [], context_management }).vendorCompacts;
  assert.equal(withEdits({ edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }] }), true);
  for (const other of [null, [], {}, { edits: null }, { edits: [null, {}, { type: 'clear_tool_uses_20250919' }] }])
    assert.equal(withEdits(other), undefined);
});

test('inline media and proofs are not text of the prompt', () => {
  const content = [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(10_000) } },
    { type: 'thinking', thinking: '', signature: 'S'.repeat(10_000) },
  ];
  assert.ok(factsOf({ model: 'm', messages: [{ role: 'user', content }] }).inputCharacters < 100);
});

test('a thread needs an upstream with threads, and null means none', () => {
  assert.deepEqual(factsOf({ model: 'm', messages: [], thread: { type: 'create' } }).needs, ['threads']);
  assert.deepEqual(factsOf({ model: 'm', messages: [], thread: null }).needs, []);
});

test('a count of tokens never streams', () => {
  assert.equal(factsOf({ model: 'm', messages: [], stream: true }, 'count-tokens').stream, false);
});

test('a continued thread names the message that it continues', () => {
  const facts = factsOf({ model: 'm', messages: [], thread: { type: 'continue', previous_message_id: 'msg_1' } });
  assert.deepEqual(facts.continues, { replyId: 'msg_1', param: 'thread.previous_message_id' });
  assert.equal(facts.keepsReply, true);
});
