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

test('same model: the very bytes', () => {
  const { before, after } = edit('{"model" : "m","input":"x"}', 'm');
  assert.equal(after, before);
});

test('other model: only the name at the root changes, not a model inside the input', () => {
  const json =
    '{ "input":[{"role":"user","content":"{\\"model\\":\\"a\\"}"}],\n "tools":[{"type":"image_generation","model":"a"}], "model" :\t"a" }';
  assert.equal(edit(json, 'b"1').after.toString(), json.replace('\t"a"', '\t"b\\"1"'));
});
