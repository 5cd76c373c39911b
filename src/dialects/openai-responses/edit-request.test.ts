import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { openaiResponses } from './openai-responses.ts';

function edit(json: string, upstreamModel: string): { before: Buffer; after: Buffer } {
  const before = Buffer.from(json);
  const body = JSON.parse(json) as JsonObject;
  const fit = { requestedModel: 'requested', upstreamModel, acceptsStreamOptions: true };
  return { before, after: applyJsonEdits(before, openaiResponses.editRequest({ operation: 'generate', body, headers: {} }, before, fit)) };
}

test('a request for the same model keeps its bytes', () => {
  const { before, after } = edit('{"model" : "m","input":"x"}', 'm');
  assert.equal(after, before);
});

test('for another model only the name at the root changes, not a model inside the input', () => {
  const json =
    '{ "input":[{"role":"user","content":"{\\"model\\":\\"a\\"}"}],\n "tools":[{"type":"image_generation","model":"a"}], "model" :\t"a" }';
  assert.equal(edit(json, 'b"1').after.toString(), json.replace('\t"a"', '\t"b\\"1"'));
});

test('a search with domains becomes the search with a filter, and nothing else changes', () => {
  const json =
    '{"model":"m", "tools":[ {"type":"function","name":"f"}, {"domains":["a.example"],"type":"web_search_preview","search_context_size":"low"} ],"tool_choice":{"type":"web_search_preview"}}';
  const edited =
    '{"model":"m", "tools":[ {"type":"function","name":"f"}, {"type":"web_search","search_context_size":"low","filters":{"allowed_domains":["a.example"]}} ],"tool_choice":{"type":"web_search"}}';
  assert.equal(edit(json, 'm').after.toString(), edited);
  const none = '{"model":"m","tools":[{"type":"web_search_preview","domains":[]}]}';
  assert.equal(edit(none, 'm').after.toString(), '{"model":"m","tools":[{"type":"web_search"}]}');
  const plain = '{"model":"m","tools":[{"type":"web_search_preview"}],"tool_choice":{"type":"web_search_preview"}}';
  assert.equal(edit(plain, 'm').after.toString(), plain);
});
