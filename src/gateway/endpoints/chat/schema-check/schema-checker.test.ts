import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { createSchemaChecker, type SchemaVerdict } from './schema-checker.ts';

const checker = createSchemaChecker();
after(() => checker.close());

const never = new AbortController().signal;
const check = (text: string, schema: JsonObject, tenant = 'ann'): Promise<SchemaVerdict> =>
  checker.check(text, schema, { tenant, signal: never });

const person: JsonObject = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } }, required: ['age'] };

/** Two alternatives at each level, each of which the reply almost matches. A validator visits all of them. */
function chainOf(levels: number): JsonObject {
  const definitions = Array.from({ length: levels }, (_, at) => {
    const next = { $ref: `#/$defs/d${at + 1}` };
    return [`d${at}`, { anyOf: [next, { allOf: [next, next] }] }];
  });
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: { type: 'string', minLength: 5 } } };
}

const nested = (levels: number): JsonObject =>
  Array.from({ length: levels }).reduce<JsonObject>((inner) => ({ properties: { a: inner } }), {});

describe('a reply is checked in a thread', () => {
  test('a reply fits or fails with its problems', async () => {
    assert.deepEqual(await check('{"age":36}', person), { kind: 'fits' });
    assert.deepEqual(await check('{"age":-1}', person), { kind: 'fails', problems: ['/age: must be >= 0'] });
  });

  test('a schema can be compiled in advance', async () => {
    assert.deepEqual(await checker.prepare(person, { tenant: 'ann', signal: never }), { kind: 'fits' });
  });

  test('a check stops when its caller disconnects', async () => {
    const signal = AbortSignal.abort(new Error('the client disconnected'));
    await assert.rejects(checker.check('{}', person, { tenant: 'ann', signal }), /the client disconnected/);
  });
});

describe('a check that is too expensive has the verdict unchecked', () => {
  const hostile: readonly (readonly [string, string, JsonObject])[] = [
    ['a pattern that backtracks forever', JSON.stringify(`${'a'.repeat(60)}!`), { type: 'string', pattern: '^(a+)+$' }],
    ['a pattern of names that backtracks forever', JSON.stringify({ [`${'a'.repeat(60)}!`]: 1 }), { patternProperties: { '^(a+)+$': {} } }],
    ['references that fan out exponentially', '"abc"', chainOf(40)],
    ['a schema of five megabytes', '"abc"', { enum: Array.from({ length: 50_000 }, (_, at) => `${at}`.padEnd(100, 'x')) }],
    ['a schema that is nested too deeply', '{}', nested(100_000)],
    ['a schema with one huge text', '{}', { description: 'x'.repeat(5_000_000) }],
    ['a schema at another address', '{}', { $ref: 'https://example.org/schema.json' }],
    ['a reply of many megabytes', `"${'x'.repeat(5_000_001)}"`, { type: 'string' }],
    ['many items that must be unique', JSON.stringify(Array.from({ length: 60_000 }, (_, at) => ({ at }))), { uniqueItems: true }],
  ];
  for (const [title, text, schema] of hostile) {
    test(`${title} is unchecked`, async () => {
      const verdict = await check(text, schema);
      assert.equal(verdict.kind, 'unchecked', JSON.stringify(verdict).slice(0, 200));
      assert.deepEqual(await check('{"age":36}', person), { kind: 'fits' }, 'the next check is not affected');
    });
  }
});

test('a huge enum within the limits is checked', async () => {
  const schema: JsonObject = { enum: Array.from({ length: 10_000 }, (_, at) => `value-${at}`) };
  assert.deepEqual(await check('"value-9999"', schema), { kind: 'fits' });
  assert.equal((await check('"value-10000"', schema)).kind, 'fails');
});

test("one tenant's expensive schemas do not delay another's", async () => {
  const text = JSON.stringify(`${'a'.repeat(60)}!`);
  const finished: string[] = [];
  const expensive = Array.from({ length: 20 }, async (_, at) => {
    const verdict = await check(text, { type: 'string', pattern: '^(a+)+$', description: `${at}` }, 'eve');
    finished.push(verdict.kind);
  });
  assert.deepEqual(await check('{"age":36}', person, 'ann'), { kind: 'fits' });
  assert.ok(finished.length < 20, 'it did not wait for all of them');
  await Promise.all(expensive);
  assert.deepEqual(new Set(finished), new Set(['unchecked']));
});
