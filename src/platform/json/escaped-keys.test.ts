import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { mayHaveEscapedKey, parsePieces } from './escaped-keys.ts';
import { parseJson } from './parse-json.ts';

/** A value and its JSON text, in which any character of a string may be an escape. */
const valueWithText = fc.tuple(fc.jsonValue({ stringUnit: 'binary' }), fc.infiniteStream(fc.boolean())).map(([value, flags]) => {
  const write = (unit: string): string =>
    flags.next().value === true ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : JSON.stringify(unit).slice(1, -1);
  const text = JSON.stringify(value, undefined, 1).replaceAll(/"(?:[^"\\]|\\.)*"/g, (literal) => {
    const units = (JSON.parse(literal) as string).split('');
    return `"${units.map(write).join('')}"`;
  });
  return { value, text };
});

test('a key that is written with an escape keeps its name, whatever another text had in its place', () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    [String.raw`{"\\":1}`, String.raw`{"\u0061":1}`, ['a']],
    [String.raw`{"other":1,"\\":{"x":1}}`, String.raw`{"other":1,"\u0061":{"y":1}}`, ['other', 'a']],
    [String.raw`{"type":"object","\\u":1}`, String.raw`{"type":"object","\u540d\u524d" : 1}`, ['type', '名前']],
    [String.raw`{"sum":1,"a\\\"":1}`, String.raw`{"sum":1,"a\"b":1}`, ['sum', 'a"b']],
  ];
  const kept: unknown[] = [];
  for (const [before, text, names] of rows) {
    kept.push(parseJson(before), parseJson(before));
    assert.deepEqual(Object.keys(parseJson(text) as object), names);
  }
});

test('keys with escapes are found, and usual strings with escapes are not taken for keys', () => {
  for (const text of [String.raw`{"\n":1}`, String.raw`[{"a":"\\"},{"b\"" :2}]`, String.raw`{"a":"\\\"","\\":{}}`])
    assert.equal(mayHaveEscapedKey(text), true, text);
  for (const text of ['{"a":1}', String.raw`{"a":"\":1","b":["x",":"]}`, String.raw`"\\"`, String.raw`{"a":"{\"b\":1}"}`, ''])
    assert.equal(mayHaveEscapedKey(text), false, text);
});

test('pieces put together are the value of JSON.parse, at any depth', () => {
  fc.assert(fc.property(valueWithText, ({ value, text }) => assert.equal(JSON.stringify(parsePieces(text)), JSON.stringify(value))));
  for (const text of ['{"a":1,"b":2,"a":[]}', ' {"__proto__":{"x":1}, "1":-0.5e3,"":"" } ', '[]', '{}', '"\\""', '[[],{},[{}]]'])
    assert.deepEqual(parsePieces(text), JSON.parse(text), text);
  assert.ok(Object.hasOwn(parsePieces('{"__proto__":1}') as object, '__proto__'));
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  assert.equal(Array.isArray(parsePieces(deep)), true);
});
