import type { SchemaProblem } from '../platform/schema/schema-problem.ts';
import { instantPattern } from './contract/values.ts';

/** A person who wrote a date alone cannot read the pattern. */
const instantWords = 'be an instant with its zone, such as 2026-11-26T00:00:00Z';

/** The sentence of each rule that a value breaks, after the name of its field. */
const sentences: Readonly<Record<SchemaProblem['rule'], (problem: SchemaProblem) => string>> = {
  required: () => 'is missing.',
  type: ({ expected, actual }) => `must be ${list(expected, 'or')}, not ${String(actual)}.`,
  enum: ({ expected, actual }) => `must be ${list(expected, 'or')}; got ${quote(actual)}.`,
  minimum: ({ expected, actual }) => `must be at least ${String(expected)}; got ${String(actual)}.`,
  maximum: ({ expected, actual }) => `must be at most ${String(expected)}; got ${String(actual)}.`,
  'exclusive-minimum': ({ expected, actual }) => `must be more than ${String(expected)}; got ${String(actual)}.`,
  'exclusive-maximum': ({ expected, actual }) => `must be less than ${String(expected)}; got ${String(actual)}.`,
  'multiple-of': ({ expected, actual }) => `must be a multiple of ${String(expected)}; got ${String(actual)}.`,
  'min-length': ({ expected, actual }) => `must have at least ${String(expected)} characters; it has ${String(actual)}.`,
  'max-length': ({ expected, actual }) => `must have at most ${String(expected)} characters; it has ${String(actual)}.`,
  'min-items': ({ expected, actual }) => `must have at least ${String(expected)} entries; it has ${String(actual)}.`,
  'max-items': ({ expected, actual }) => `must have at most ${String(expected)} entries; it has ${String(actual)}.`,
  'unique-items': () => 'must not have the same entry twice.',
  pattern: ({ expected, actual }) =>
    `must ${expected === instantPattern ? instantWords : `match ${String(expected)}`}; got ${quote(actual)}.`,
  'min-properties': ({ expected, actual }) => `must have at least ${String(expected)} members; it has ${String(actual)}.`,
  'max-properties': ({ expected, actual }) => `must have at most ${String(expected)} members; it has ${String(actual)}.`,
  'unknown-field': ({ expected }) => `is unknown; known are: ${list(expected, 'and') || 'none'}.`,
  refine: ({ expected }) => `${String(expected)}.`,
  'no-variant': ({ expected }) => `must be ${list(expected, 'or')}.`,
};

const placeWords = { params: 'path parameter', query: 'query parameter', body: 'field' } as const;

/** One sentence about a value that does not fit its schema: the field, the problem, and what would be right. */
export function wordProblem(place: keyof typeof placeWords, problem: SchemaProblem): string {
  // A parameter that may repeat is a list, which the caller has not written.
  const name = (place === 'query' ? problem.path.slice(0, 1) : problem.path).join('.');
  const subject = name === '' ? 'The body' : `The ${placeWords[place]} ${name}`;
  return `${subject} ${sentences[problem.rule](problem)}`;
}

function list(expected: SchemaProblem['expected'], conjunction: string): string {
  const words = typeof expected === 'object' ? expected.map(String) : [String(expected)];
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}

function quote(actual: SchemaProblem['actual']): string {
  return typeof actual === 'string' ? `"${actual}"` : String(actual);
}
