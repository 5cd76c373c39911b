import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { membersOf } from './json-members.ts';

test('the members of an object are found, whatever quotes, brackets and commas their values have', () => {
  const values = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('},{"a":[', '\\', '"', '\\"', ',', '\\\\",'));
  const names = fc.stringMatching(/^[a-zA-Z]{1,8}$/);
  fc.assert(
    fc.property(fc.dictionary(names, values, { noNullPrototype: true }), (object) => {
      const text = JSON.stringify(object);
      const members = membersOf(text);
      assert.deepEqual(
        members.map(({ name }) => name),
        Object.keys(object),
      );
      assert.equal(`{${members.map((member) => member.text).join(',')}}`, text);
      for (const { name, text: member } of members) assert.equal(member, `"${name}":${JSON.stringify(object[name])}`);
    }),
  );
});

test('values may be marks that are not JSON', () => {
  const members = membersOf('{"a":\u001f,"b":{"c":\u001f},"d":"\u001f"}');
  assert.deepEqual(
    members.map(({ text }) => text),
    ['"a":\u001f', '"b":{"c":\u001f}', '"d":"\u001f"'],
  );
});
