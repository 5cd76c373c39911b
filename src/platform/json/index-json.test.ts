import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyUnit } from '../testing/any-unit.ts';
import { indexJson } from './index-json.ts';
import { type JsonIndex, jsonKind, noNode } from './json-index.ts';
import type { JsonValue } from './json-value.ts';
import { JsonProblemError } from './scan-json.ts';

/** The value of a node, put together from nodes alone, which also checks every field on the way. */
function rebuild(index: JsonIndex, node: number): JsonValue {
  const end = index.next(node);
  switch (index.kind(node)) {
    case jsonKind.array: {
      const items: JsonValue[] = [];
      for (let item = index.first(node); item < end; item = index.next(item)) items.push(rebuild(index, item));
      assert.equal(index.size(node), items.length);
      return items;
    }
    case jsonKind.object: {
      const members: [string, JsonValue][] = [];
      for (let key = index.first(node); key < end; key = index.next(key + 1)) {
        assert.equal(index.kind(key), jsonKind.key);
        assert.equal(index.next(key), key + 1);
        const name = index.text(key) ?? '';
        assert.equal(index.size(key), name.length);
        assert.equal(index.find(node, name), key + 1);
        members.push([name, rebuild(index, key + 1)]);
      }
      assert.equal(index.size(node), members.length);
      return Object.fromEntries(members);
    }
    case jsonKind.string: {
      const text = index.text(node) ?? '';
      assert.equal(index.size(node), text.length);
      assert.ok(index.textIs(node, text));
      assert.ok(!index.textIs(node, `${text} `));
      return text;
    }
    case jsonKind.number:
      return index.number(node) ?? Number.NaN;
    case jsonKind.null:
      return null;
    default:
      return index.boolean(node) ?? assert.fail('a boolean is missing');
  }
}

test('an index has the kind, the span and the extent of every value', () => {
  const text = ' {"a\\u0062":[1.5e3,"é😀\\n",{}],"c" : {"d":null,"e":true} , "f":[],"g":-0}\n';
  const index = indexJson(Buffer.from(text));
  const spans = Array.from({ length: index.count }, (_, node) => index.bytes.toString('utf8', index.start(node), index.end(node)));
  assert.deepEqual(spans, [
    text.trim(),
    '"a\\u0062"',
    '[1.5e3,"é😀\\n",{}]',
    '1.5e3',
    '"é😀\\n"',
    '{}',
    '"c"',
    '{"d":null,"e":true}',
    '"d"',
    'null',
    '"e"',
    'true',
    '"f"',
    '[]',
    '"g"',
    '-0',
  ]);
  const list = index.find(0, 'ab');
  assert.deepEqual([list, index.next(list), index.size(list), index.size(4)], [2, 6, 3, 4]);
  assert.equal(index.boolean(index.find(index.find(0, 'c'), 'e')), true);
  assert.equal(index.number(index.find(0, 'g')), -0);
  assert.equal(index.find(list, 'ab'), noNode);
  assert.equal(index.text(index.find(index.find(0, 'nothing'), 'at all')), undefined);
});

test('the nodes of any text make the value that JSON.parse makes', () => {
  const json = fc.oneof(fc.json({ maxDepth: 5 }), fc.json({ maxDepth: 3, stringUnit: anyUnit }));
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), (compact, space) => {
      const text = JSON.stringify(JSON.parse(compact), null, space);
      const index = indexJson(Buffer.from(text));
      const value = JSON.parse(text);
      assert.deepEqual(rebuild(index, 0), value);
      assert.deepEqual(index.materialize(0), value);
      assert.equal(index.next(0), index.count);
    }),
    { numRuns: 500 },
  );
});

test('half surrogate pairs and a `__proto__` member are read as JSON.parse reads them', () => {
  const text = '{"__proto__":{"a":["\\ud800","\\udc00\\ud800x"]},"\\ud800":1}';
  const index = indexJson(Buffer.from(text));
  assert.deepEqual(rebuild(index, 0), JSON.parse(text));
  assert.equal(index.number(index.find(0, '\ud800')), 1);
});

test('a text that is refused has no index', () => {
  for (const text of ['', '{"a":1,"a":2}', '[', '{"a"}', '[1,]']) assert.throws(() => indexJson(Buffer.from(text)), JsonProblemError, text);
  assert.throws(() => indexJson(Buffer.from('[[1]]'), { depthMax: 1 }), JsonProblemError);
});
