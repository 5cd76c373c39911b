import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { applyJsonEdits } from '../platform/json/json-edits.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { changeHeaders, editMembers, joinEdits } from './reshape.ts';

const edited = (text: string, changes: Parameters<typeof editMembers>[1]): string => {
  const bytes = Buffer.from(text);
  return applyJsonEdits(bytes, editMembers({ body: JSON.parse(text) as JsonObject, bytes }, changes)).toString();
};

test('members go with one comma each, and the bytes of all others stay', () => {
  const body = '{ "a" : 1 ,"b":[1, 2],\n "c":{"d" : null} }';
  assert.equal(edited(body, { remove: ['a'] }), '{ "b":[1, 2],\n "c":{"d" : null} }');
  assert.equal(edited(body, { remove: ['b'] }), '{ "a" : 1 ,"c":{"d" : null} }');
  assert.equal(edited(body, { remove: ['c'] }), '{ "a" : 1 ,"b":[1, 2] }');
  assert.equal(edited(body, { remove: ['b', 'c'] }), '{ "a" : 1  }'.replace('1  }', '1 }'));
  assert.equal(edited(body, { remove: ['a', 'b', 'c'], set: { v: '"x"' } }), '{ "v":"x" }');
  assert.equal(edited(body, { path: ['c'], remove: ['d'] }), '{ "a" : 1 ,"b":[1, 2],\n "c":{} }');
  assert.equal(edited('{}', { set: { v: '1' } }), '{"v":1}');
});

test('any members that go and come leave an object that parses to what is meant', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd', 'e\n', 'ü');
  fc.assert(
    fc.property(
      fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true }),
      fc.uniqueArray(names),
      fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true }),
      fc.constantFrom(0, 1, 3),
      (object, remove, set, space) => {
        const expected = Object.fromEntries(Object.entries(object).filter(([name]) => !remove.some((gone) => gone === name)));
        const texts = Object.fromEntries(Object.entries(set).map(([name, value]) => [name, JSON.stringify(value)]));
        const text = JSON.stringify(object, undefined, space);
        assert.deepEqual(JSON.parse(edited(text, { remove, set: texts })), JSON.parse(JSON.stringify({ ...expected, ...set })));
      },
    ),
  );
});

test('an edit of the dialect in bytes that the service replaces is dropped', () => {
  const own = [
    { start: 1, end: 5, replacement: 'x' },
    { start: 8, end: 8, replacement: 'y' },
  ];
  const changes = [{ start: 0, end: 6, replacement: '' }];
  assert.deepEqual(joinEdits(own, changes), [own[1], ...changes]);
  assert.equal(joinEdits(own, []), own);
});

test('headers are set, replaced and left out', () => {
  assert.deepEqual(changeHeaders({ a: '1', b: '2' }, { a: undefined, b: '3', c: '4' }), { b: '3', c: '4' });
});
