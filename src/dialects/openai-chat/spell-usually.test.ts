import assert from 'node:assert/strict';
import { test } from 'node:test';

import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { editRequest } from './edit-request.ts';

function edit(text: string, takesOwnSpellings: boolean): string {
  const bytes = Buffer.from(text);
  const fit = { requestedModel: 'm', upstreamModel: 'm', acceptsStreamOptions: true, takesOwnSpellings };
  return applyJsonEdits(
    bytes,
    editRequest({ operation: 'generate', body: JSON.parse(text) as JsonObject, headers: {} }, bytes, fit),
  ).toString();
}

const history = (call: string): string =>
  `{"model":"m","messages":[{"role":"user","content":"é😀"},{"role":"assistant","tool_calls":[${call}]}]}`;
const withPart = (part: string): string => `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Look:"},${part}]}]}`;
const answer = (format: string): string => `{"model":"m","messages":[],"response_format":{"type":"json_schema","json_schema":${format}}}`;

const spellings: readonly (readonly [what: string, own: string, usual: string])[] = [
  [
    'a tool call without a type',
    history('{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}'),
    history(
      '{"type":"function","id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}',
    ),
  ],
  [
    'a tool call whose type is null, and whose arguments are an object',
    history('{"id":"a","type":null,"function":{"name":"f","arguments":{"x": 1.50}}}'),
    history('{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x\\": 1.50}"}}'),
  ],
  [
    'an image by its address alone',
    withPart('{"type":"image_url","image_url":"https://example.com/1.png"}'),
    withPart('{"type":"image_url","image_url":{"url":"https://example.com/1.png"}}'),
  ],
  ['a schema without a name', answer('{"schema":{"type":"object"}}'), answer('{"name":"answer","schema":{"type":"object"}}')],
  ['a schema whose name is null', answer('{"name":null,"schema":{}}'), answer('{"name":"answer","schema":{}}')],
];

for (const [what, own, usual] of spellings) {
  test(`${what} is unchanged for the service whose clients send it, and converted for others`, () => {
    assert.equal(edit(own, true), own);
    assert.equal(edit(own, false), usual);
    assert.equal(edit(usual, false), usual, 'the usual form stays unchanged');
  });
}
