import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from './json-value.ts';
import { parseJson } from './parse-json.ts';

test('bytes and text are parsed alike', () => {
  assert.deepEqual(parseJson(Buffer.from('{"é":[1,null]}')), { é: [1, null] });
  assert.equal(parseJson('"x"'), 'x');
  assert.throws(() => parseJson('{'), SyntaxError);
});

test('a __proto__ member changes no prototype, when parsed and when copied by spread', () => {
  const value = parseJson('{"__proto__":{"admin":true}}');
  assert.ok(isJsonObject(value));
  for (const object of [value, { ...value }, Object.fromEntries(Object.entries(value))]) {
    assert.equal(Object.getPrototypeOf(object), Object.prototype);
    assert.ok(Object.hasOwn(object, '__proto__'));
    assert.equal(object['admin'], undefined);
  }
  assert.equal(Object.hasOwn(Object.prototype, 'admin'), false);
});
