import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { run, type SchemaVerdict } from './check-schema-job.ts';

const checkText = (text: string, schema: object): SchemaVerdict => run({ schema: JSON.stringify(schema), text });

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, size: { enum: ['S', 'M'] } },
  required: ['name'],
  additionalProperties: false,
};

describe('a reply and its schema', () => {
  test('that fit', () => assert.deepEqual(checkText('{"name":"Ada","age":36}', person), { kind: 'fits' }));

  test('that do not fit say in words where, all of it at once', () => {
    const verdict = checkText('{"age":"old","size":"XL","more":1}', person);
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
      assert.deepEqual(checkText(text, person), { kind: 'fails', problems: ['the whole: is no JSON'] });
    });
  }

  test('definitions within the schema, recursion and an older draft are understood', () => {
    const tree = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, additionalProperties: false } },
    };
    assert.deepEqual(checkText('{"next":{"next":{}}}', tree), { kind: 'fits' });
    assert.equal(checkText('{"next":{"other":{}}}', tree).kind, 'fails');
  });
});

describe('a hostile schema', () => {
  test('that refers elsewhere is not followed', () => {
    assert.equal(checkText('{}', { $ref: 'https://example.org/schema.json' }).kind, 'unchecked');
  });

  test('with a pattern that backtracks for ever is stopped', () => {
    const begun = performance.now();
    const verdict = checkText(JSON.stringify(`${'a'.repeat(60)}!`), { type: 'string', pattern: '^(a+)+$' });
    assert.deepEqual(verdict, { kind: 'unchecked', reason: 'checking the reply takes too long' });
    assert.ok(performance.now() - begun < 30_000);
    // Nothing of it is left over for the next one.
    assert.deepEqual(checkText('"aaa"', { type: 'string', pattern: '^(a+)+$' }), { kind: 'fits' });
  });

  test('that is no schema, or too large, leaves the reply standing', () => {
    assert.equal(checkText('{}', { type: 'nonsense' }).kind, 'unchecked');
    assert.equal(checkText('{}', { type: 'string', pattern: '(' }).kind, 'unchecked');
    const deep = Array.from({ length: 5000 }).reduce<object>((inner) => ({ not: inner }), {});
    assert.ok(['unchecked', 'fits', 'fails'].includes(checkText('{}', deep).kind));
  });

  test('cannot reach what is around it', () => {
    const named = { type: 'object', properties: { "x'];globalThis.reached=1;//": { type: 'string' } }, required: ['"+globalThis+"'] };
    assert.equal(checkText('{"__proto__":{"a":1}}', named).kind, 'fails');
    assert.equal('reached' in globalThis, false);
  });
});

test('a schema that is only compiled says whether a reply can be checked by it', () => {
  assert.deepEqual(run({ schema: JSON.stringify(person) }), { kind: 'fits' });
  assert.deepEqual(run({ schema: '{"$ref":"https://example.org/"}' }), { kind: 'unchecked', reason: 'the schema cannot be read' });
});

test('more schemas than are kept are all checked', () => {
  for (let at = 0; at < 300; at++) assert.equal(checkText(String(at), { const: at }).kind, 'fits');
});
