import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { openaiChat } from '../../../../dialects/openai-chat/openai-chat.ts';
import { openaiResponses } from '../../../../dialects/openai-responses/openai-responses.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import { takeCallbackUrl } from './background-request.ts';

const callbacks = { readUrl: (value: unknown) => `checked:${String(value)}` };
const call = { dialect: openaiResponses, operation: 'generate' as const };
const read = (text: string) => ({ bytes: Buffer.from(text), body: parseJsonObject(text) ?? {} });

const places: readonly [text: string, left: string][] = [
  ['{"callback_url":"u","background":true}', '{"background":true}'],
  ['{ "background": true , "callback_url" : "u" }', '{ "background": true }'],
  ['{"background":true,"callback_url":"u","input":"a,b"}', '{"background":true,"input":"a,b"}'],
  ['{"background":true,"\\u0063allback_url":"u"}', '{"background":true}'],
];
for (const [text, left] of places) {
  test(`only the field is removed from the request: ${text}`, () => {
    const { request, callbackUrl } = takeCallbackUrl(callbacks, call, read(text));
    assert.equal(request.bytes.toString(), left);
    assert.deepEqual(request.body, parseJsonObject(left));
    assert.equal(callbackUrl, 'checked:u');
  });
}

test('the members beside the field stay, in their order', () => {
  const key = fc.string().filter((name) => name !== '__proto__' && name !== 'background' && name !== 'callback_url');
  const members = fc.uniqueArray(fc.tuple(key, fc.jsonValue()), { selector: ([name]) => name });
  fc.assert(
    fc.property(members, fc.nat(), (others, at) => {
      const all = [...others, ['background', true] as const];
      const place = at % (all.length + 1);
      const write = (entries: readonly (readonly [string, unknown])[]): string =>
        `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
      const text = write([...all.slice(0, place), ['callback_url', 'u'], ...all.slice(place)]);
      assert.equal(takeCallbackUrl(callbacks, call, read(text)).request.bytes.toString(), write(all));
    }),
  );
});

test('a request without the field, and requests of other interfaces, do not change', () => {
  const plain = read('{"background":true}');
  assert.deepEqual(takeCallbackUrl(callbacks, call, plain), { request: plain, callbackUrl: undefined });
  const chat = read('{"callback_url":"u"}');
  assert.equal(takeCallbackUrl(callbacks, { ...call, dialect: openaiChat }, chat).request, chat);
  assert.equal(takeCallbackUrl(callbacks, { ...call, operation: 'count-tokens' }, chat).request, chat);
});

test('null means no callback; without a background response, or without callbacks, the field is refused', () => {
  assert.deepEqual(takeCallbackUrl(callbacks, call, read('{"callback_url":null}')).request.bytes.toString(), '{}');
  assert.throws(() => takeCallbackUrl(callbacks, call, read('{"callback_url":"u"}')), { code: 'invalid_value', param: 'callback_url' });
  const request = read('{"callback_url":"u","background":true}');
  assert.throws(() => takeCallbackUrl(undefined, call, request), { code: 'responses_unavailable' });
});
