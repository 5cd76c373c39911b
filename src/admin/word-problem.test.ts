import assert from 'node:assert/strict';
import { test } from 'node:test';

import { instantPattern } from './contract/values.ts';
import { wordProblem } from './word-problem.ts';

test('a date alone is answered with an instant, and other patterns as they are', () => {
  const problem = { path: ['from'], rule: 'pattern', expected: instantPattern, actual: '2026-11-26' } as const;
  assert.equal(
    wordProblem('query', problem),
    'The query parameter from must be an instant with its zone, such as 2026-11-26T00:00:00Z; got "2026-11-26".',
  );
  assert.equal(wordProblem('body', { ...problem, path: [], expected: '^a+$' }), 'The body must match ^a+$; got "2026-11-26".');
});

test('a value of a parameter that repeats is named by the parameter', () => {
  const problem = { path: ['flag', '0'], rule: 'enum', expected: ['stream', 'video'], actual: 'x' } as const;
  assert.equal(wordProblem('query', problem), 'The query parameter flag must be stream or video; got "x".');
  assert.equal(wordProblem('body', problem), 'The field flag.0 must be stream or video; got "x".');
});
