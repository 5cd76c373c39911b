import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { editMembers, type MemberChanges } from './edit-members.ts';
import { indexJson } from './index-json.ts';
import { applyJsonEdits } from './json-edits.ts';
import type { JsonObject } from './json-value.ts';
import { lazyObject } from './lazy-object.ts';

const edited = (text: string, changes: MemberChanges): string => {
  const bytes = Buffer.from(text);
  return applyJsonEdits(bytes, editMembers({ body: JSON.parse(text) as JsonObject, bytes }, changes)).toString();
};

test('members go with one comma each, and the bytes of all others stay', () => {
  const body = '{ "a" : 1 ,"b":[1, 2],\n "c":{"d" : null} }';
  assert.equal(edited(body, { remove: ['a'] }), '{ "b":[1, 2],\n "c":{"d" : null} }');
  assert.equal(edited(body, { remove: ['b'] }), '{ "a" : 1 ,"c":{"d" : null} }');
  assert.equal(edited(body, { remove: ['c'] }), '{ "a" : 1 ,"b":[1, 2] }');
  assert.equal(edited(body, { remove: ['b', 'c'] }), '{ "a" : 1 }');
  assert.equal(edited(body, { remove: ['a', 'b', 'c'], set: { v: '"x"' } }), '{ "v":"x" }');
  assert.equal(edited(body, { path: ['c'], remove: ['d'] }), '{ "a" : 1 ,"b":[1, 2],\n "c":{} }');
  assert.equal(edited('{"a":1,"b":2}', { remove: ['a', 'b'] }), '{}');
  assert.equal(edited('{"a":1,  "b":{"a":2}}', {}), '{"a":1,  "b":{"a":2}}');
});

test('added members come first and replace those of the same name', () => {
  assert.equal(
    edited('{"max":1,"model":"x","version":"v"}', { remove: ['version'], set: { model: '"m\\""', stream: 'true' } }),
    '{"model":"m\\"","stream":true,"max":1}',
  );
  assert.equal(edited('{}', { remove: ['a'], set: { v: '1' } }), '{"v":1}');
  assert.equal(edited(' {"model":"x"} ', { set: { model: '"m"' } }), ' {"model":"m"} ');
});

test('any members that go and come leave an object that parses to what is meant, with and without an index', () => {
  const names = fc.constantFrom('a', 'b', 'model', 'e\n', 'ü', 'stream');
  const objects = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(objects, fc.uniqueArray(names), objects, fc.constantFrom(0, 1, 3), (object, remove, added, space) => {
      const expected = Object.fromEntries(Object.entries(object).filter(([name]) => !remove.some((gone) => gone === name)));
      const set = Object.fromEntries(Object.entries(added).map(([name, value]) => [name, JSON.stringify(value)]));
      const bytes = Buffer.from(JSON.stringify(object, undefined, space));
      const indexed = lazyObject(indexJson(bytes, { depthMax: 1000, tokensMax: 100_000 })) ?? assert.fail();
      for (const body of [indexed, object as JsonObject]) {
        const text = applyJsonEdits(bytes, editMembers({ body, bytes }, { remove, set })).toString();
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify({ ...expected, ...added })));
      }
    }),
  );
});
