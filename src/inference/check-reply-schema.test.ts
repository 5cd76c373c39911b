import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { checkReplySchema } from './check-reply-schema.ts';

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, size: { enum: ['S', 'M'] } },
  required: ['name'],
  additionalProperties: false,
};

describe('a reply and its schema', () => {
  test('that fit', () => assert.deepEqual(checkReplySchema('{"name":"Ada","age":36}', person), { kind: 'fits' }));

  test('that do not fit say in words where, all of it at once', () => {
    const verdict = checkReplySchema('{"age":"old","size":"XL","more":1}', person);
    assert.equal(verdict.kind, 'fails');
    assert.ok(verdict.kind === 'fails');
    const words = verdict.problems.join('\n');
    assert.match(words, /\/age: must be integer/);
    assert.match(words, /the whole: must have required property 'name'/);
    assert.match(words, /\/size: must be equal to one of the allowed values \(\["S","M"\]\)/);
    assert.match(words, /must NOT have additional properties \('more'\)/);
  });

  for (const text of ['', 'Sure! {"name":"Ada"}', '{"name":', '```json\n{}\n```']) {
    test(`a reply that is no JSON: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(checkReplySchema(text, person), { kind: 'fails', problems: ['the whole: is no JSON'] });
    });
  }

  test('definitions within the schema, recursion and an older draft are understood', () => {
    const tree = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, additionalProperties: false } },
    };
    assert.deepEqual(checkReplySchema('{"next":{"next":{}}}', tree), { kind: 'fits' });
    assert.equal(checkReplySchema('{"next":{"other":{}}}', tree).kind, 'fails');
  });
});

test('a process that stands still for a moment has not worked for too long', () => {
  // Not when the schema is looked up, but when it is read for the first time.
  const pauses = [0, 1500];
  const schema = {
    type: 'object',
    properties: {
      get name() {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauses.shift() ?? 0);
        return { type: 'string' };
      },
    },
  };
  assert.equal(checkReplySchema('{"name":1}', schema).kind, 'fails');
  assert.deepEqual(pauses, []);
});

describe('a hostile schema', () => {
  test('that refers elsewhere is not followed', () => {
    assert.equal(checkReplySchema('{}', { $ref: 'https://example.org/schema.json' }).kind, 'unchecked');
  });

  test('with a pattern that backtracks for ever is stopped', () => {
    const begun = performance.now();
    const verdict = checkReplySchema(JSON.stringify(`${'a'.repeat(60)}!`), { type: 'string', pattern: '^(a+)+$' });
    assert.deepEqual(verdict, { kind: 'unchecked', reason: 'checking the reply takes too long' });
    assert.ok(performance.now() - begun < 30_000);
    // Nothing of it is left over for the next one.
    assert.deepEqual(checkReplySchema('"aaa"', { type: 'string', pattern: '^(a+)+$' }), { kind: 'fits' });
  });

  test('that is no schema, or too large, leaves the reply standing', () => {
    assert.equal(checkReplySchema('{}', { type: 'nonsense' }).kind, 'unchecked');
    assert.equal(checkReplySchema('{}', { type: 'string', pattern: '(' }).kind, 'unchecked');
    assert.equal(checkReplySchema('{}', { description: 'x'.repeat(300_000) }).kind, 'unchecked');
    const deep = Array.from({ length: 5000 }).reduce<object>((inner) => ({ not: inner }), {});
    assert.ok(['unchecked', 'fits', 'fails'].includes(checkReplySchema('{}', deep as Record<string, never>).kind));
  });

  test('cannot reach what is around it', () => {
    const named = { type: 'object', properties: { "x'];globalThis.reached=1;//": { type: 'string' } }, required: ['"+globalThis+"'] };
    assert.equal(checkReplySchema('{"__proto__":{"a":1}}', named).kind, 'fails');
    assert.equal('reached' in globalThis, false);
  });
});

test('more schemas than are kept are all checked', () => {
  for (let at = 0; at < 300; at++) assert.equal(checkReplySchema(String(at), { const: at }).kind, 'fits');
});
