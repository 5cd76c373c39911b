import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { IsArray, IsObject, IsRecord, IsUnion, type TSchema, Type } from 'typebox';
import { Clean, Clone } from 'typebox/value';

import { nullable, record } from './contract/values.ts';
import { pickDeclared } from './declared-members.ts';
import { operations } from './resources/registry.ts';

/** Values of a schema, with members that it does not declare wherever it allows none. */
function valuesOf(schema: TSchema): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(fc.constant(null), fc.integer(), fc.string());
  if (IsArray(schema)) return fc.array(valuesOf(schema.items), { maxLength: 2 });
  if (IsUnion(schema)) return fc.oneof(...schema.anyOf.map(valuesOf));
  if (IsRecord(schema)) return fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), leaf, { maxKeys: 2, noNullPrototype: true });
  if (!IsObject(schema)) return leaf;
  const members = Object.entries(schema.properties).map(([member, its]) => [member, valuesOf(its)] as const);
  const isOpen = 'additionalProperties' in schema && schema.additionalProperties !== false;
  const [name, value] = isOpen ? ['anything', fc.string()] : ['undeclared', leaf];
  return fc.record({ ...Object.fromEntries(members), [name]: value }, { requiredKeys: [], noNullPrototype: true });
}

function withoutUndeclared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndeclared);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'undeclared');
  return Object.fromEntries(members.map(([name, member]) => [name, withoutUndeclared(member)]));
}

test('answers of all operations keep the members that they declare and no others, also where a value does not fit', () => {
  for (const { id, schemas } of operations) {
    const { reply } = schemas;
    if (reply === undefined) continue;
    const property = fc.property(valuesOf(reply), (value) => {
      const before = structuredClone(value);
      assert.deepEqual(pickDeclared(reply, value), withoutUndeclared(value), id);
      assert.deepEqual(value, before, 'the value of the handler stays as it is');
    });
    fc.assert(property, { numRuns: 15 });
  }
});

test('a large answer whose parts may be null takes a small part of the time that TypeBox takes', () => {
  const sums = record({ amount: record({ nano_usd: Type.String() }), calls: Type.Integer(), failed: nullable(Type.Integer()) });
  const part = record({ series: Type.Array(record({ buckets: Type.Array(sums) })) });
  const schema = record({ comparison: nullable(part) });
  const one = { amount: { nano_usd: '1224000', undeclared: 1 }, calls: 12, failed: null, undeclared: 1 };
  const value = { comparison: { series: Array.from({ length: 5 }, () => ({ buckets: Array.from({ length: 500 }, () => one) })) } };
  const shortestMs = (work: () => unknown): number => {
    const times = Array.from({ length: 3 }, () => {
      const before = performance.now();
      work();
      return performance.now() - before;
    });
    return Math.min(...times);
  };
  const picking = shortestMs(() => pickDeclared(schema, value));
  const cleaning = shortestMs(() => Clean(schema, Clone(value)));
  assert.ok(picking < cleaning / 5, `${picking} ms, and ${cleaning} ms by TypeBox`);
});
