import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { compileCheck } from './compile-check.ts';
import { describeProblems } from './describe-problems.ts';
import { threadMs } from '../thread-ms.ts';

const text = Type.Object({ type: Type.Literal('text'), text: Type.String({ minLength: 1 }) });
const image = Type.Object({ type: Type.Literal('image'), url: Type.String() });
const block = Type.Union([text, image]);
const message = Type.Object(
  { role: Type.Enum(['user', 'assistant']), content: Type.Union([Type.String(), Type.Array(block)]) },
  { additionalProperties: false },
);
const request = Type.Object({
  model: Type.String({ pattern: '^[a-z]' }),
  messages: Type.Array(message, { minItems: 1, maxItems: 3 }),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
});
const good = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

test('a value that fits has no problems', () => {
  assert.deepEqual(describeProblems(request, good), []);
  assert.deepEqual(
    describeProblems(request, { ...good, messages: [{ role: 'user', content: [{ type: 'image', url: 'x', more: 1 }] }] }),
    [],
  );
});

test('missing field is named with its path and type', () => {
  assert.deepEqual(describeProblems(request, { model: 'm' }), [{ path: ['messages'], rule: 'required', expected: 'array' }]);
  assert.deepEqual(describeProblems(request, { ...good, messages: [{ role: 'user' }] }), [
    { path: ['messages', 0, 'content'], rule: 'required', expected: ['string', 'array'] },
  ]);
  assert.deepEqual(describeProblems(request, { ...good, messages: [{ content: '' }] }), [
    { path: ['messages', 0, 'role'], rule: 'required', expected: ['user', 'assistant'] },
  ]);
});

test('wrong type names the received type', () => {
  assert.deepEqual(describeProblems(request, { ...good, max_tokens: 1.5 }), [
    { path: ['max_tokens'], rule: 'type', expected: 'integer', actual: 'number' },
  ]);
  assert.deepEqual(describeProblems(request, []), [{ path: [], rule: 'type', expected: 'object', actual: 'array' }]);
  assert.deepEqual(describeProblems(request, { ...good, model: null }), [
    { path: ['model'], rule: 'type', expected: 'string', actual: 'null' },
  ]);
  assert.deepEqual(describeProblems(Type.Number(), JSON.parse('1e999')), [
    { path: [], rule: 'type', expected: 'number', actual: 'infinity' },
  ]);
});

test('a union of a string and a list picks the branch by JSON type', () => {
  const path = ['messages', 0, 'content'];
  const describe = (content: unknown) => describeProblems(request, { ...good, messages: [{ role: 'user', content }] });
  assert.deepEqual(describe(5), [{ path, rule: 'type', expected: ['string', 'array'], actual: 'integer' }]);
  assert.deepEqual(describe([{ type: 'text', text: '' }]), [{ path: [...path, 0, 'text'], rule: 'min-length', expected: 1, actual: 0 }]);
});

test('union of objects picks the branch that the discriminator names', () => {
  const describe = (value: unknown) => describeProblems(block, value);
  assert.deepEqual(describe({ type: 'image' }), [{ path: ['url'], rule: 'required', expected: 'string' }]);
  assert.deepEqual(describe({ type: 'video' }), [{ path: ['type'], rule: 'enum', expected: ['text', 'image'], actual: 'video' }]);
  assert.deepEqual(describe({}), [{ path: ['type'], rule: 'required', expected: ['text', 'image'] }]);
  assert.deepEqual(describe({ type: 7 }), [{ path: ['type'], rule: 'type', expected: 'string', actual: 'integer' }]);
  assert.deepEqual(describe('x'), [{ path: [], rule: 'type', expected: 'object', actual: 'string' }]);
});

test('branches that share a type are told apart by the next discriminator', () => {
  const item = (role: string, part: string) =>
    Type.Object({ type: Type.Optional(Type.Literal('message')), role: Type.Literal(role), [part]: Type.String() });
  const schema = Type.Union([
    item('user', 'question'),
    item('assistant', 'answer'),
    Type.Object({ type: Type.Literal('call'), id: Type.String() }),
  ]);
  assert.deepEqual(describeProblems(schema, { type: 'message', role: 'assistant' }), [
    { path: ['answer'], rule: 'required', expected: 'string' },
  ]);
  assert.deepEqual(describeProblems(schema, { role: 'user' }), [{ path: ['question'], rule: 'required', expected: 'string' }]);
  assert.deepEqual(describeProblems(schema, { role: 'boss' }), [
    { path: ['role'], rule: 'enum', expected: ['user', 'assistant'], actual: 'boss' },
  ]);
  assert.deepEqual(describeProblems(schema, { type: 'call' }), [{ path: ['id'], rule: 'required', expected: 'string' }]);
  assert.deepEqual(describeProblems(schema, { type: 'other' }), [
    { path: ['type'], rule: 'enum', expected: ['message', 'call'], actual: 'other' },
  ]);
});

test('a branch without the discriminator stays possible', () => {
  const schema = Type.Union([text, image, Type.Object({ custom: Type.String() })]);
  assert.deepEqual(describeProblems(schema, { type: 'video', custom: 'x' }), []);
  assert.deepEqual(describeProblems(schema, { type: 'video', custom: 1 }), [
    { path: ['custom'], rule: 'type', expected: 'string', actual: 'integer' },
  ]);
  assert.deepEqual(describeProblems(schema, { type: 'video' }), [
    { path: ['type'], rule: 'enum', expected: ['text', 'image'], actual: 'video' },
  ]);
});

test('objects without a discriminator report the branch that is nearest', () => {
  const schema = Type.Union([
    Type.Object({ a: Type.String(), b: Type.String(), c: Type.String() }),
    Type.Object({ x: Type.String(), y: Type.String() }),
  ]);
  assert.deepEqual(describeProblems(schema, { x: 'x' }), [{ path: ['y'], rule: 'required', expected: 'string' }]);
});

test('union of literals reports all allowed values', () => {
  const choice = Type.Union([
    Type.Union([Type.Literal('auto'), Type.Literal('none')]),
    Type.Object({ type: Type.Literal('tool'), name: Type.String() }),
  ]);
  assert.deepEqual(describeProblems(choice, 'always'), [{ path: [], rule: 'enum', expected: ['auto', 'none'], actual: 'always' }]);
  assert.deepEqual(describeProblems(choice, { type: 'tool' }), [{ path: ['name'], rule: 'required', expected: 'string' }]);
  assert.deepEqual(describeProblems(choice, 3), [{ path: [], rule: 'type', expected: ['string', 'object'], actual: 'integer' }]);
  assert.deepEqual(describeProblems(Type.Union([Type.Literal('auto'), Type.String({ pattern: '^\\d+$' })]), 'x'), [
    { path: [], rule: 'no-variant', expected: ['auto', '^\\d+$'], actual: 'x' },
  ]);
  assert.deepEqual(describeProblems(Type.Union([Type.Literal('5m'), Type.Null()]), '6m'), [
    { path: [], rule: 'enum', expected: ['5m'], actual: '6m' },
  ]);
});

test('unknown field is named beside the known ones, and a long key is cut', () => {
  const strict = Type.Object({ a: Type.String() }, { additionalProperties: false });
  assert.deepEqual(describeProblems(strict, { a: '', b: {} }), [{ path: ['b'], rule: 'unknown-field', expected: ['a'], actual: 'object' }]);
  const key = describeProblems(strict, { a: '', ['k'.repeat(5000)]: 1 })[0]?.path[0];
  assert.equal(String(key).length, 64);
  const hostile: unknown = JSON.parse('{"a":"","__proto__":1,"constructor":2}');
  assert.deepEqual(
    describeProblems(strict, hostile).map((problem) => problem.path),
    [['__proto__'], ['constructor']],
  );
  assert.equal(compileCheck(strict)(hostile), false);
});

test('a forbidden field is reported', () => {
  const schema = Type.Object({ a: Type.Optional(Type.Never()) });
  assert.deepEqual(describeProblems(schema, { a: 1 }), [{ path: ['a'], rule: 'unknown-field', expected: [], actual: 'integer' }]);
});

test('keys of a map: length and pattern are reported at the key, count at the map', () => {
  const schema = Type.Object(
    {},
    {
      additionalProperties: Type.String({ maxLength: 3 }),
      propertyNames: Type.String({ maxLength: 2, pattern: '^[a-z]*$' }),
      maxProperties: 2,
    },
  );
  assert.deepEqual(describeProblems(schema, { abc: 'x', A: 'y', c: 'long' }), [
    { path: [], rule: 'max-properties', expected: 2, actual: 3 },
    { path: ['abc'], rule: 'max-length', expected: 2, actual: 3 },
    { path: ['A'], rule: 'pattern', expected: '^[a-z]*$', actual: 'A' },
    { path: ['c'], rule: 'max-length', expected: 3, actual: 4 },
  ]);
});

test('text length counts code points as the compiled check does', () => {
  for (const [value, length] of [
    ['😀😀', 2],
    ['\ud800a', 2],
    ['a\udc00', 2],
    ['é', 1],
    ['👩‍👧', 3],
  ] as const) {
    for (const bound of [length - 1, length, length + 1]) {
      const most = Type.String({ maxLength: bound });
      const least = Type.String({ minLength: bound });
      assert.equal(describeProblems(most, value).length === 0, bound >= length);
      assert.equal(describeProblems(least, value).length === 0, bound <= length);
      assert.equal(compileCheck(most)(value), bound >= length);
      assert.equal(compileCheck(least)(value), bound <= length);
    }
  }
});

test('recursive schema is followed through its references', () => {
  const tree = Type.Cyclic({ Node: Type.Object({ name: Type.String(), next: Type.Optional(Type.Ref('Node')) }) }, 'Node');
  const inside = Type.Object({ tree });
  assert.deepEqual(describeProblems(inside, { tree: { name: 'a', next: { name: 'b', next: {} } } }), [
    { path: ['tree', 'next', 'next', 'name'], rule: 'required', expected: 'string' },
  ]);
  assert.equal(compileCheck(inside)({ tree: { name: 'a', next: { name: 'b' } } }), true);
  const pointed = Type.Unsafe({ $defs: { id: { type: 'string', minLength: 2 } }, type: 'array', items: { $ref: '#/$defs/id' } });
  assert.deepEqual(describeProblems(pointed, ['ab', 'c']), [{ path: [1], rule: 'min-length', expected: 2, actual: 1 }]);
});

test('refinement reports its own message, and only when nothing else is wrong', () => {
  const schema = Type.Refine(
    Type.Object({ low: Type.Number(), high: Type.Number() }),
    (value) => value.low <= value.high,
    () => 'low must not be above high',
  );
  assert.deepEqual(describeProblems(schema, { low: 2, high: 1 }), [
    { path: [], rule: 'refine', expected: 'low must not be above high', actual: 'object' },
  ]);
  assert.deepEqual(
    describeProblems(schema, { low: 2 }).map((problem) => problem.rule),
    ['required'],
  );
});

test('the number of problems is limited, and a long text is abbreviated', () => {
  assert.equal(
    describeProblems(
      Type.Array(Type.String()),
      Array.from({ length: 100_000 }, () => 1),
    ).length,
    10,
  );
  assert.equal(describeProblems(Type.Array(Type.String()), [1, 2, 3], 2).length, 2);
  const [problem] = describeProblems(Type.Enum(['a']), `${'x'.repeat(62)}😀${'y'.repeat(100)}`);
  assert.equal(problem?.actual, `${'x'.repeat(62)}…`);
});

test('nested variants end within the step budget', () => {
  const schema = Type.Cyclic(
    {
      Node: Type.Union([
        Type.Object({ a: Type.Ref('Node'), x: Type.Null() }),
        Type.Object({ a: Type.Ref('Node'), y: Type.Null() }),
        Type.Null(),
      ]),
    },
    'Node',
  );
  let value: unknown = 1;
  for (let depth = 0; depth < 60; depth++) value = { a: value };
  const startedAt = threadMs();
  assert.notEqual(describeProblems(schema, value).length, 0);
  assert.ok(threadMs() - startedAt < 3000);
});

test('schemas that could not be explained are refused when they are compiled', () => {
  assert.throws(() => compileCheck(Type.Unsafe({ type: 'string', minLenght: 3 })), /#: the keyword minLenght is not supported/);
  assert.throws(() => compileCheck(Type.Object({ a: Type.Unsafe({ if: {} }) })), /#\/properties\/a: the keyword if/);
  assert.throws(() => compileCheck(Type.Ref('Nowhere')), /\$ref Nowhere leads nowhere/);
  assert.throws(() => compileCheck(Type.Object({ toString: Type.String() })), /toString cannot be checked/);
});

const leaf = fc.constantFrom<TSchema>(
  Type.String({ minLength: 1, maxLength: 3 }),
  Type.String({ pattern: '^[ab]+$' }),
  Type.Integer({ minimum: 0, exclusiveMaximum: 10 }),
  Type.Number({ exclusiveMinimum: -1, maximum: 2.5, multipleOf: 0.5 }),
  Type.Boolean(),
  Type.Null(),
  Type.Unknown(),
  Type.Never(),
  Type.Literal('a'),
  Type.Literal(1),
  Type.Enum(['a', 'b', 1]),
  Type.Unsafe({ type: ['string', 'null'] }),
  Type.String({ format: 'uuid' }),
);
const key = fc.constantFrom('type', 'a', 'b', 'role', '__proto__');
const schemas = fc.letrec<{ schema: TSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc
      .record({
        members: fc.dictionary(key, fc.tuple(tie('schema'), fc.boolean()), { maxKeys: 3 }),
        rest: fc.constantFrom(
          {},
          { additionalProperties: false },
          { additionalProperties: Type.String() },
          { minProperties: 1, maxProperties: 2 },
        ),
        names: fc.constantFrom({}, { propertyNames: Type.String({ maxLength: 3 }) }),
      })
      .map(({ members, rest, names }) => {
        const entries = Object.entries(members).map(
          ([name, [schema, isOptional]]) => [name, isOptional ? Type.Optional(schema) : schema] as const,
        );
        return Type.Object(Object.fromEntries(entries), { ...rest, ...names });
      }),
    fc
      .tuple(tie('schema'), fc.constantFrom({}, { minItems: 1 }, { maxItems: 1 }, { uniqueItems: true }))
      .map(([items, rest]) => Type.Array(items, rest)),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((items) => Type.Tuple(items)),
    fc.array(tie('schema'), { maxLength: 3 }).map((variants) => Type.Union(variants)),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((oneOf) => Type.Unsafe({ oneOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((parts) => Type.Intersect(parts)),
    tie('schema').map((not) => Type.Unsafe({ not })),
    tie('schema').map((schema) => Type.Record(Type.String({ pattern: '^a' }), schema)),
  ),
})).schema;
const primitive = fc.constantFrom<unknown>('a', 'b', 'ab', '', 'abcd', 0, 1, 1.5, 12, -1, true, null, Infinity);
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    primitive,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries): unknown => Object.fromEntries(entries)),
  ),
})).value;

test('problems are found exactly when the compiled check fails, for any schema and value', () => {
  let failed = 0;
  fc.assert(
    fc.property(schemas, fc.array(values, { minLength: 4, maxLength: 12 }), (schema, samples) => {
      const check = compileCheck(schema);
      for (const sample of samples) {
        const problems = describeProblems(schema, sample);
        if (problems.length > 0) failed++;
        assert.equal(problems.length === 0, check(sample), JSON.stringify({ schema, sample, problems }));
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(failed > 100);
});

test('limit 1 finds a problem exactly when limit 10 does', () => {
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      assert.equal(describeProblems(schema, value, 1).length, Math.min(1, describeProblems(schema, value).length));
    }),
    { numRuns: 200 },
  );
});
