import assert from 'node:assert/strict';
import { test } from 'node:test';

import { instantPattern } from './contract/values.ts';
import { operations } from './resources/registry.ts';
import { patternWords, wordProblem } from './word-problem.ts';

test('a date alone is answered with an instant, and other patterns as they are', () => {
  const problem = { path: ['from'], rule: 'pattern', expected: instantPattern, actual: '2026-11-26' } as const;
  assert.equal(
    wordProblem('query', problem),
    'The query parameter from must be an instant with its zone, such as 2026-11-26T00:00:00Z; got "2026-11-26".',
  );
  assert.equal(wordProblem('body', { ...problem, path: [], expected: '^a+$' }), 'The body must match ^a+$; got "2026-11-26".');
});

test('every pattern of a request has words', () => {
  const patterns = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('pattern' in value && typeof value.pattern === 'string') patterns.add(value.pattern);
    for (const member of Object.values(value)) collect(member);
  };
  for (const { schemas } of operations) collect([schemas.params, schemas.query, schemas.body]);
  assert.deepEqual(
    [...patterns].filter((pattern) => !patternWords.has(pattern)),
    [],
  );
});

test('types and numbers are words', () => {
  const problem = { path: ['limit'], rule: 'type', expected: 'integer', actual: 'string' } as const;
  assert.equal(wordProblem('query', problem), 'The query parameter limit must be a whole number, not a text.');
  assert.equal(
    wordProblem('body', { path: ['team'], rule: 'type', expected: ['string', 'null'], actual: 'array' }),
    'The field team must be a text or null, not a list.',
  );
  assert.equal(
    wordProblem('body', { path: ['name'], rule: 'min-length', expected: 1, actual: 0 }),
    'The field name must have at least 1 character; it has 0.',
  );
});

test('a value of a parameter that repeats is named by the parameter', () => {
  const problem = { path: ['flag', '0'], rule: 'enum', expected: ['stream', 'video'], actual: 'x' } as const;
  assert.equal(wordProblem('query', problem), 'The query parameter flag must be stream or video; got "x".');
  assert.equal(wordProblem('body', problem), 'The field flag.0 must be stream or video; got "x".');
});
