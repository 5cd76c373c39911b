import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiResponses } from './openai-responses.ts';

const factsOf = (body: object) => openaiResponses.readFacts({ operation: 'generate', body: body as never, headers: {} });

test('a plain request has a model, its text and no limits', () => {
  assert.deepEqual(factsOf({ model: 'm', input: 'hello' }), {
    requestedModel: 'm',
    stream: false,
    inputCharacters: 5,
    needs: [],
    keepsReply: true,
  });
});

test('the output limit, the stream flag and all text are read', () => {
  const facts = factsOf({
    model: 'm',
    instructions: 'abc',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'defg' }] }],
    stream: true,
    max_output_tokens: 50,
  });
  assert.equal(facts.outputTokensMax, 50);
  assert.equal(facts.stream, true);
  assert.ok(facts.inputCharacters >= 7);
});

test('inline media and proofs do not count as text', () => {
  const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(9000)}` };
  const proof = { type: 'reasoning', summary: [], encrypted_content: 'A'.repeat(9000) };
  assert.ok(factsOf({ model: 'm', input: [{ role: 'user', content: [image] }, proof] }).inputCharacters < 100);
});

test('null settings mean the same as absent ones', () => {
  assert.deepEqual(factsOf({ model: 'm', input: '', stream: null, max_output_tokens: null }), {
    requestedModel: 'm',
    stream: false,
    inputCharacters: 0,
    needs: [],
    keepsReply: true,
  });
});

test('a chained response names its predecessor, and one with store false is not stored', () => {
  assert.deepEqual(factsOf({ model: 'm', input: '', previous_response_id: 'resp_1' }).continues, {
    replyId: 'resp_1',
    param: 'previous_response_id',
  });
  assert.equal(factsOf({ model: 'm', input: '', store: false }).keepsReply, false);
});

test('the built-in tools are listed without duplicates', () => {
  const offered = (tools: readonly object[]): unknown => factsOf({ model: 'm', input: 'Hi', tools }).builtInTools;
  const files = { type: 'file_search', vector_store_ids: [] };
  assert.deepEqual(offered([{ type: 'web_search' }, files, { type: 'web_search_preview_2025_03_11' }, { type: 'code_interpreter' }]), [
    'web-search',
    'file-search',
    'code-execution',
  ]);
  assert.equal(offered([{ type: 'function', name: 'web_search' }]), undefined);
});
