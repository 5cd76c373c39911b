import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { encodeReply } from './encode-reply.ts';
import { writeCallProof, writeSignature } from './proof-fields.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';
import { createWriting } from './testing/test-kit.ts';

const foreign: JsonObject = { type: 'thinking', thinking: 'Hm', signature: writeSignature({ origin: 'openai', blob: 'B' }) };
const native: JsonObject = { type: 'thinking', thinking: 'Hm', signature: 'EqQB' };
const call: JsonObject = { type: 'tool_use', id: 'a', name: 'f', input: {} };
const answer: JsonObject = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] };

const bodyOf = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  model: 'm',
  max_tokens: 4096,
  messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content }, answer],
  ...more,
});

const contentOf = (body: JsonObject, at = 1): unknown => {
  const message = Array.isArray(body.messages) ? body.messages[at] : undefined;
  return isJsonObject(message) ? message.content : undefined;
};

test('a body without foreign content stays the same object', () => {
  for (const body of [bodyOf([native, call]), bodyOf('text'), { model: 'm' }, bodyOf([{ type: 'text', text: 'x', citations: [] }])]) {
    assert.equal(removeForeignProofs(body), body);
  }
});

test('thinking with a foreign proof, or with the mark for none, is removed; the vendor’s own stays', () => {
  const unproven = { type: 'thinking', thinking: 'x', signature: writeSignature(undefined) };
  const hidden = { type: 'redacted_thinking', data: writeSignature({ origin: 'openai', blob: 'B', hidden: true }) };
  const carried = { type: 'thinking', thinking: '', signature: writeCallProof('a', { origin: 'gemini', blob: 'G' }) };
  const body = bodyOf([native, foreign, unproven, hidden, carried, call]);
  const before = JSON.stringify(body);
  assert.deepEqual(contentOf(removeForeignProofs(body)), [native, call]);
  assert.equal(JSON.stringify(body), before, 'the request itself is not touched');
});

test('a turn without other content is removed, so that no content is empty', () => {
  const cleaned = removeForeignProofs(bodyOf([foreign]));
  assert.deepEqual(cleaned.messages, [{ role: 'user', content: 'Hi' }, answer]);
  assert.deepEqual(removeForeignProofs({ messages: [{ role: 'assistant', content: [foreign] }] }).messages, [
    { role: 'user', content: '.' },
  ]);
});

test('a tool loop that loses its thoughts continues without thinking (pydantic/pydantic-ai#2040)', () => {
  const clear = { type: 'clear_thinking_20251015' };
  const uses = { type: 'clear_tool_uses_20250919' };
  const thinking = { type: 'enabled', budget_tokens: 2048 };
  const cleaned = removeForeignProofs(bodyOf([foreign, call], { thinking, context_management: { edits: [clear, uses] } }));
  assert.deepEqual(cleaned.thinking, { type: 'disabled' });
  assert.deepEqual(cleaned.context_management, { edits: [uses] });
  const alone = removeForeignProofs(bodyOf([foreign, call], { thinking, context_management: { edits: [clear] } }));
  assert.ok(!('context_management' in alone));
  assert.deepEqual(removeForeignProofs(bodyOf([foreign, { type: 'text', text: 'x' }], { thinking })).thinking, thinking);
  const adaptive = { type: 'adaptive' };
  assert.deepEqual(removeForeignProofs(bodyOf([foreign, call], { thinking: adaptive })).thinking, adaptive);
});

test('all additions from replies of other vendors are removed', () => {
  const reply: InferenceReply = {
    parts: [
      { kind: 'server-tool', tool: 'web-search', id: 'ws-1', input: ['q'], results: [{ url: 'https://a.example/' }], wire: [] },
      { kind: 'server-tool', tool: 'code-execution', id: 'ci_1', input: ['1'], wire: [] },
      { kind: 'reasoning', text: ['Hm'], proof: { origin: 'gemini', blob: 'G' } },
      { kind: 'text', text: 'cited', citations: [{ source: { kind: 'url', url: 'https://a.example/' } }] },
      { kind: 'tool-call', id: 'a', name: 'f', arguments: '{}', proof: { origin: 'gemini', blob: 'G' } },
    ],
    stopReason: 'tool-calls',
  };
  const { content } = encodeReply(reply, createWriting());
  assert.deepEqual(contentOf(removeForeignProofs(bodyOf(content ?? null))), [{ type: 'text', text: 'cited' }, call]);
});

test('citations of the vendor stay, others are removed', () => {
  const own = { type: 'web_search_result_location', url: 'u', title: 't', cited_text: 'c', encrypted_index: 'E' };
  const text = { type: 'text', text: 'x', citations: [own, { ...own, encrypted_index: '' }] };
  assert.deepEqual(contentOf(removeForeignProofs(bodyOf([text]))), [{ type: 'text', text: 'x', citations: [own] }]);
});

test('if the vendor refused the thinking of another account, all of it is removed', () => {
  const own = { type: 'thinking', thinking: 'Hm', signature: 'native' };
  const hidden = { type: 'redacted_thinking', data: 'native' };
  const thinking = { type: 'enabled', budget_tokens: 2048 };
  const cleaned = removeForeignProofs(bodyOf([own, hidden, call], { thinking }), true);
  assert.deepEqual(contentOf(cleaned), [call]);
  assert.deepEqual(cleaned.thinking, { type: 'disabled' });
  // A turn that was made without thinking is refused too.
  assert.deepEqual(removeForeignProofs(bodyOf([call], { thinking }), true).thinking, { type: 'disabled' });
  const plain = bodyOf([{ type: 'text', text: 'x' }]);
  assert.equal(removeForeignProofs(plain, true), plain);
});
