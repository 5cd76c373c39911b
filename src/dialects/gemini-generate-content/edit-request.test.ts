import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { geminiGenerateContent } from './gemini-generate-content.ts';

const fit = { requestedModel: 'a', upstreamModel: 'b', acceptsStreamOptions: true };

function edit(json: string): { before: Buffer; after: Buffer } {
  const before = Buffer.from(json);
  const request = { operation: 'generate', body: JSON.parse(json) as JsonObject, headers: {} } as const;
  return { before, after: applyJsonEdits(before, geminiGenerateContent.editRequest(request, before, fit)) };
}

test('without names to replace, the bytes are unchanged, whatever the text says', () => {
  for (const tools of ['[{"google_search":{}}]', '[]', '{"codeExecution":{}}', 'null', '[null, 5]']) {
    const { before, after } = edit(`{"contents":[{"parts":[{"text":"vendor_search"}]}], "tools": ${tools}}`);
    assert.equal(after, before);
  }
});

test('the contract names of the search tools become those of the vendor, in the same spelling', () => {
  const names = [
    ['vendor_search', 'google_search'],
    ['vendorSearch', 'googleSearch'],
    ['vendor_search_retrieval', 'google_search_retrieval'],
    ['vendorSearchRetrieval', 'googleSearchRetrieval'],
  ] as const;
  for (const [name, renamed] of names) {
    const json = (tool: string): string =>
      `{ "tools" : [ {"codeExecution":{}}, { "${tool}" : { "vendor_search": 1 } } ], "contents": {"parts":{"text":"é"}} }`;
    assert.equal(edit(json(name)).after.toString(), json(renamed));
    assert.equal(edit(`{"tools":{"${name}":{}}}`).after.toString(), `{"tools":{"${renamed}":{}}}`);
  }
});

test('an escaped key is found too', () => {
  assert.equal(edit('{"tools":[{"vendor\\u005fsearch":{}}]}').after.toString(), '{"tools":[{"google_search":{}}]}');
});

test('the model of a counted request follows the path, and its tools are renamed', () => {
  const { after } = edit('{"generateContentRequest":{"model":"models/a","tools":[{"vendor_search":{}}],"contents":[]}}');
  assert.equal(after.toString(), '{"generateContentRequest":{"model":"models/b","tools":[{"google_search":{}}],"contents":[]}}');
  assert.equal(
    edit('{"generate_content_request":{"model":"models/b"}}').after.toString(),
    '{"generate_content_request":{"model":"models/b"}}',
  );
});
