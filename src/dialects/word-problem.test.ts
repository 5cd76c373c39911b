import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SchemaProblem } from '../platform/schema/schema-problem.ts';
import { wordProblem } from './word-problem.ts';

test('the message of every rule states the right value and the actual one', () => {
  const cases: readonly [Omit<SchemaProblem, 'path'>, string][] = [
    [{ rule: 'required', expected: 'string' }, 'is required'],
    [{ rule: 'type', expected: 'string', actual: 'integer' }, 'must be a string, but got an integer'],
    [{ rule: 'type', expected: ['string', 'array', 'null'], actual: 'integer' }, 'must be a string or an array, but got an integer'],
    [{ rule: 'type', expected: ['null'], actual: 'object' }, 'must be null, but got an object'],
    [{ rule: 'type', expected: [], actual: 'object' }, 'must be another type, but got an object'],
    [{ rule: 'enum', expected: ['user', 'assistant'], actual: 'robot' }, "must be one of 'user', 'assistant', but got 'robot'"],
    [{ rule: 'enum', expected: ['base64'], actual: 'url' }, "must be 'base64', but got 'url'"],
    [{ rule: 'enum', expected: [1, 2], actual: 3 }, 'must be one of 1, 2, but got 3'],
    [{ rule: 'minimum', expected: 1, actual: 0 }, 'must be at least 1, but got 0'],
    [{ rule: 'maximum', expected: 1, actual: 2 }, 'must be at most 1, but got 2'],
    [{ rule: 'exclusive-minimum', expected: 0, actual: 0 }, 'must be greater than 0, but got 0'],
    [{ rule: 'exclusive-maximum', expected: 1, actual: 1 }, 'must be less than 1, but got 1'],
    [{ rule: 'multiple-of', expected: 2, actual: 3 }, 'must be a multiple of 2, but got 3'],
    [{ rule: 'min-length', expected: 1, actual: 0 }, 'must have at least 1 character, but got 0'],
    [{ rule: 'max-length', expected: 64, actual: 65 }, 'must have at most 64 characters, but got 65'],
    [{ rule: 'min-items', expected: 1, actual: 0 }, 'must have at least 1 item, but got 0'],
    [{ rule: 'max-items', expected: 4, actual: 5 }, 'must have at most 4 items, but got 5'],
    [{ rule: 'unique-items', expected: 'items that differ', actual: 2 }, 'must not repeat an item'],
    [{ rule: 'min-properties', expected: 1, actual: 0 }, 'must have at least 1 member, but got 0'],
    [{ rule: 'max-properties', expected: 16, actual: 17 }, 'must have at most 16 members, but got 17'],
    [{ rule: 'pattern', expected: '^a+$', actual: 'b' }, "must match ^a+$, but got 'b'"],
    [{ rule: 'unknown-field', expected: ['a'], actual: 'string' }, 'is not a known field'],
    [{ rule: 'refine', expected: 'must be base64', actual: '!' }, "must be base64, but got '!'"],
    [{ rule: 'no-variant', expected: ['auto', 'object'], actual: 'x' }, "must be one of auto, object, but got 'x'"],
    [{ rule: 'no-variant', expected: 'a different value', actual: null }, 'must be a different value, but got null'],
  ];
  for (const [problem, words] of cases) assert.equal(wordProblem({ path: ['field'], ...problem }), words);
});
