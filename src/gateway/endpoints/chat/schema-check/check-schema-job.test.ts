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
  test('a reply that fits passes', () => assert.deepEqual(checkText('{"name":"Ada","age":36}', person), { kind: 'fits' }));

  test('a reply that does not fit names all problems and their places', () => {
    const verdict = checkText('{"age":"old","size":"XL","more":1}', person);
    assert.equal(verdict.kind, 'fails');
    assert.ok(verdict.kind === 'fails');
    const problems = verdict.problems.join('\n');
    assert.match(problems, /\/age: must be integer/);
    assert.match(problems, /the whole: must have required property 'name'/);
    assert.match(problems, /\/size: must be equal to one of the allowed values \(\["S","M"\]\)/);
    assert.match(problems, /must NOT have additional properties \('more'\)/);
  });

  for (const text of ['', 'Sure! {"name":"Ada"}', '{"name":', '```json\n{}\n```']) {
    test(`a reply that is not JSON fails: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(checkText(text, person), { kind: 'fails', problems: ['the whole: is not JSON'] });
    });
  }

  test('definitions within the schema, recursion and an older draft are supported', () => {
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
  test('a schema that refers to another address is not fetched', () => {
    assert.equal(checkText('{}', { $ref: 'https://example.org/schema.json' }).kind, 'unchecked');
  });

  test('a pattern that backtracks forever is stopped', () => {
    const begun = performance.now();
    const verdict = checkText(JSON.stringify(`${'a'.repeat(60)}!`), { type: 'string', pattern: '^(a+)+$' });
    assert.deepEqual(verdict, { kind: 'unchecked', reason: 'checking the reply takes too long' });
    assert.ok(performance.now() - begun < 30_000);
    // Nothing of it affects the next check.
    assert.deepEqual(checkText('"aaa"', { type: 'string', pattern: '^(a+)+$' }), { kind: 'fits' });
  });

  test('an invalid or too large schema leaves the reply unchecked', () => {
    assert.equal(checkText('{}', { type: 'nonsense' }).kind, 'unchecked');
    assert.equal(checkText('{}', { type: 'string', pattern: '(' }).kind, 'unchecked');
    const deep = Array.from({ length: 5000 }).reduce<object>((inner) => ({ not: inner }), {});
    assert.ok(['unchecked', 'fits', 'fails'].includes(checkText('{}', deep).kind));
  });

  test('a schema cannot reach the surrounding program', () => {
    const named = { type: 'object', properties: { "x'];globalThis.reached=1;//": { type: 'string' } }, required: ['"+globalThis+"'] };
    assert.equal(checkText('{"__proto__":{"a":1}}', named).kind, 'fails');
    assert.equal('reached' in globalThis, false);
  });
});

test('compiling a schema tells whether replies can be checked against it', () => {
  assert.deepEqual(run({ schema: JSON.stringify(person) }), { kind: 'fits' });
  assert.deepEqual(run({ schema: '{"$ref":"https://example.org/"}' }), { kind: 'unchecked', reason: 'the schema cannot be read' });
});

test('all schemas are checked, even if they are more than the cache holds', () => {
  for (let at = 0; at < 300; at++) assert.equal(checkText(String(at), { const: at }).kind, 'fits');
});
