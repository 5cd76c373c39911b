import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { readBillingRequest } from './read-billing-request.ts';
import { billingRequestSchema } from './schemas.ts';

const valid = { type: 3, startTime: 1_769_443_200, endTime: 1_769_616_000 };

function problemsOf(body: unknown): readonly string[] {
  const reading = readBillingRequest(body, 'stats');
  return 'problems' in reading ? reading.problems : [];
}

test('the contract’s request is read, with and without filters', () => {
  const request = { granularity: 3, startSeconds: 1_769_443_200, endSeconds: 1_769_616_000 };
  assert.deepEqual(readBillingRequest(valid, 'stats'), { request });
  assert.deepEqual(readBillingRequest({ ...valid, tokenName: 'ci', modelName: 'm' }, 'stats'), {
    request: { ...request, tokenName: 'ci', modelName: 'm' },
  });
});

test('the type may be a digit in a string', () => {
  assert.deepEqual(readBillingRequest({ ...valid, type: '3' }, 'stats'), readBillingRequest(valid, 'stats'));
});

test('empty and null names do not filter, and unknown fields are refused', () => {
  assert.deepEqual(readBillingRequest({ ...valid, tokenName: '', modelName: null }, 'stats'), readBillingRequest(valid, 'stats'));
  assert.match(problemsOf({ ...valid, page: 7, userName: 5 }).join(), /^unknown fields "page", "userName"/);
});

test('times in milliseconds are recognised and named', () => {
  assert.deepEqual(problemsOf({ ...valid, startTime: 1_769_443_200_000, endTime: 1_769_616_000_000 }), [
    'startTime must be in Unix seconds, not milliseconds',
    'endTime must be in Unix seconds, not milliseconds',
  ]);
});

test('one refusal names every problem', () => {
  assert.deepEqual(problemsOf({ type: 6, startTime: '2026-01-27', tokenName: 7, modelName: ['m'] }), [
    'type must be one of 1 (minute), 2 (hour), 3 (day), 4 (week), 5 (month)',
    'startTime must be an integer of Unix seconds',
    'endTime is required: an integer of Unix seconds',
    'tokenName must be a string',
    'modelName must be a string',
  ]);
});

test('wrong values of each field are refused', () => {
  for (const type of [0, 6, 3.5, '6', '03', ' 3', '', true, [3], {}, '__proto__'])
    assert.match(problemsOf({ ...valid, type }).join(), /^type must be/);
  for (const startTime of [1.5, '1769443200', true, [], {}])
    assert.match(problemsOf({ ...valid, startTime }).join(), /^startTime must be an integer/);
  assert.deepEqual(problemsOf({ ...valid, startTime: -1 }), ['startTime must not be negative']);
  assert.deepEqual(problemsOf({ ...valid, tokenName: 'a\u0000b' }), ['tokenName must not contain the character U+0000']);
});

test('a start at or after the end is refused', () => {
  assert.deepEqual(problemsOf({ ...valid, endTime: valid.startTime }), ['startTime must be before endTime']);
  assert.deepEqual(problemsOf({ ...valid, endTime: valid.startTime - 1 }), ['startTime must be before endTime']);
});

test('a body that is not an object is refused as a whole', () => {
  for (const body of [undefined, null, [], 'x', 3, true]) assert.deepEqual(problemsOf(body), ['the body must be a JSON object']);
});

test('the published schema and the parser accept the same bodies, except for the order of the times', () => {
  const check = new Ajv2020({ strict: false }).compile(billingRequestSchema);
  const odd = fc.constantFrom<unknown>(null, '', 'x', 0, -1, 1.5, 1e11, 1e11 + 1, true, [], {}, 'a\u0000');
  const time = fc.oneof(fc.integer({ min: 0, max: 1e11 }), odd);
  const body = fc.record(
    {
      type: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom('1', '5', '6'), odd),
      startTime: time,
      endTime: time,
      tokenName: odd,
      modelName: odd,
      userName: odd,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        body,
        body.map((fields) => ({ ...valid, ...fields })),
      ),
      (candidate) => {
        const problems = problemsOf(candidate).filter((problem) => problem !== 'startTime must be before endTime');
        assert.equal(problems.length === 0, check(candidate), JSON.stringify(candidate));
      },
    ),
    { numRuns: 500 },
  );
});
