import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { indexJson } from './index-json.ts';
import { applyJsonEdits } from './json-edits.ts';
import type { JsonObject } from './json-value.ts';
import { lazyObject } from './lazy-object.ts';
import { rewriteMembers } from './rewrite-members.ts';

function rewrite(text: string, removed: readonly string[], added: JsonObject = {}): string {
  const bytes = Buffer.from(text);
  return applyJsonEdits(bytes, rewriteMembers(bytes, JSON.parse(text) as JsonObject, { removed: new Set(removed), added })).toString();
}

test('members are removed wherever they stand, and the bytes of the others stay', () => {
  assert.equal(rewrite('{ "a" : 1.0 , "b": [1,  2], "c":"x" }', ['b']), '{"a" : 1.0,"c":"x"}');
  assert.equal(rewrite('{"a":1, "b":2,\n"c":3}', ['a', 'c']), '{"b":2}');
  assert.equal(rewrite('{"a":1,"b":2}', ['a', 'b']), '{}');
  assert.equal(rewrite('{"a":1,  "b":{"a":2}}', []), '{"a":1,  "b":{"a":2}}');
});

test('added members come first and replace those of the same name', () => {
  assert.equal(
    rewrite('{"max":1,"model":"x","version":"v"}', ['version'], { model: 'm"', stream: true }),
    '{"model":"m\\"","stream":true,"max":1}',
  );
  assert.equal(rewrite('{}', ['a'], { model: 'm' }), '{"model":"m"}');
  assert.equal(rewrite(' {"model":"x"} ', [], { model: 'm' }), ' {"model":"m"} ');
});

test('any object is rewritten to what its members say, with and without an index', () => {
  const names = fc.constantFrom('a', 'b', 'model', 'ü', 'stream');
  const objects = fc.dictionary(names, fc.jsonValue());
  fc.assert(
    fc.property(objects, fc.array(names), fc.dictionary(names, fc.constantFrom('x', true)), fc.nat(2), (object, removed, added, indent) => {
      const bytes = Buffer.from(JSON.stringify(object, undefined, indent));
      const expected: Record<string, unknown> = { ...object };
      for (const name of removed) delete expected[name];
      const indexed = lazyObject(indexJson(bytes, { depthMax: 1000, tokensMax: 100_000 })) ?? assert.fail();
      for (const source of [indexed, object as JsonObject]) {
        const edits = rewriteMembers(bytes, source, { removed: new Set(removed), added });
        assert.deepEqual(JSON.parse(applyJsonEdits(bytes, edits).toString()), JSON.parse(JSON.stringify({ ...expected, ...added })));
      }
    }),
  );
});
