import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toSafePath, toSafeSentence } from './safe-sentence.ts';

const sentences: readonly (readonly [message: string, kept: string, param?: string])[] = [
  ['invalid API key: it is unknown, disabled or deleted', 'invalid API key: it is unknown, disabled or deleted'],
  ['this API key expired at 2026-11-27T00:00:00.000Z', 'this API key expired at 2026-11-27T00:00:00.000Z'],
  [
    'this API key may not be used from the address 2001:db8:85a3:8d3:1319:8a2e:370:7348',
    'this API key may not be used from the address 2001:db8:85a3:8d3:1319:8a2e:370:7348',
  ],
  [
    'an API key is required: send it as Authorization: Bearer, x-api-key, x-goog-api-key or ?key=',
    'an API key is required: send it as Authorization: Bearer, x-api-key, x-goog-api-key or ?key=',
  ],
  ['the model "zebra" is not served', 'the model "…" is not served'],
  ['the model "a" nor "b" is one', 'the model "…" is one'],
  ['an open "quotation of zebra', 'an open "…"'],
  [
    "Invalid value: 'zebra'. Supported values are: 'low'. Zebra'. Supported values are: 'low'.",
    "Invalid value: '…'. Supported values are: 'low'.",
  ],
  [
    "Invalid value for 'messages[0].role': 'zebra dust'. Supported values are: 'user'.",
    "Invalid value for 'messages[0].role': '…'. Supported values are: 'user'.",
  ],
  ["Invalid value: 'zebra'. Parameter: 'x'.", "Invalid value: '…'. Parameter: 'x'."],
  ['model: zebra is a is not served here', 'model: … is not served here'],
  ['there is nothing at /v1/zebra-9', 'there is nothing at /v1/…'],
  [
    "Invalid 'n': integer below minimum value. Expected a value >= 1, but got zebra instead.",
    "Invalid 'n': integer below minimum value. Expected a value >= 1, but got …",
  ],
  ['the key sk-weir-3ldk29dk20dk3ldk29dk20 is no key', 'the key … is no key'],
  ['the word Zebra ist ein Tier: Füße', 'the word Zebra ist ein Tier: …'],
  ['messages.0.Zebra-9 x.y: no', 'messages.0.….y: no', 'messages.0.Zebra-9 x.y'],
];

test('a sentence is kept without the values of the client', () => {
  for (const [message, kept, param] of sentences) assert.equal(toSafeSentence(message, param), kept, message);
  assert.equal(toSafeSentence('word '.repeat(500)).length, 300);
});

test('a path is kept without its query, ids and names', () => {
  assert.equal(toSafePath('/v1/chat/completions?key=sk-weir-x'), '/v1/chat/completions');
  assert.equal(toSafePath('/v1beta/models/zebra-1:generateContent'), '/v1beta/models/…');
  assert.equal(toSafePath('/v1/responses/resp_01jd8kd92k/input_items'), '/v1/responses/…/input_items');
  assert.equal(toSafePath(`/${'a/'.repeat(5000)}`).length < 40, true);
  assert.equal(toSafePath(''), '');
});
