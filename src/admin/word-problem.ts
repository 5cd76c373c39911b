import type { SchemaProblem } from '../platform/schema/schema-problem.ts';
import { instantPattern, usdPattern } from './contract/values.ts';

/** What a text must be, for each pattern of the requests: people cannot read patterns. */
export const patternWords: ReadonlyMap<string, string> = new Map([
  [instantPattern, 'be an instant with its zone, such as 2026-11-26T00:00:00Z'],
  [usdPattern, 'be an amount in USD such as 25 or 0.5, with at most nine decimals'],
  ['^(?:0|[1-9][0-9]{0,3})(?:\\.[0-9]{1,9})?$', 'be an amount in USD below 10000, such as 1 or 0.5'],
  ['^[1-9][0-9]{0,14}$', 'be a number such as 12'],
  ['^[0-9a-f]{64}$', 'be a SHA-256 digest of 64 digits and letters from a to f'],
  ['^\\d{4}-\\d{2}-\\d{2}$', 'be a day such as 2026-11-30'],
  ['^[\\x21-\\x7e]+$', 'have printable ASCII characters alone, without spaces'],
  ['^[\\x21-\\x7e]*$', 'have printable ASCII characters alone, without spaces'],
  ['^[a-z][a-z0-9_]{0,31}$', 'be lower-case letters, digits and _, and begin with a letter'],
  ['^tag:[a-z][a-z0-9_-]{0,31}$', 'be tag: and the name of a tag, as in tag:project'],
  ['^[A-Za-z0-9_-]{1,64}$', 'be letters, digits, _ and -, at most 64'],
]);

const typeWords: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};
const wordType = (type: unknown): string => typeWords[String(type)] ?? String(type);
const count = (expected: unknown, one: string, many: string): string => `${String(expected)} ${expected === 1 ? one : many}`;
const characters = (expected: unknown): string => count(expected, 'character', 'characters');
const entries = (expected: unknown): string => count(expected, 'entry', 'entries');
const memberCount = (expected: unknown): string => count(expected, 'member', 'members');

/** The sentence of each rule that a value breaks, after the name of its field. */
const sentences: Readonly<Record<SchemaProblem['rule'], (problem: SchemaProblem) => string>> = {
  required: () => 'is missing.',
  type: ({ expected, actual }) =>
    `must be ${list(typeof expected === 'object' ? expected.map(wordType) : wordType(expected), 'or')}, not ${wordType(actual)}.`,
  enum: ({ expected, actual }) => `must be ${list(expected, 'or')}; got ${quote(actual)}.`,
  minimum: ({ expected, actual }) => `must be at least ${String(expected)}; got ${String(actual)}.`,
  maximum: ({ expected, actual }) => `must be at most ${String(expected)}; got ${String(actual)}.`,
  'exclusive-minimum': ({ expected, actual }) => `must be more than ${String(expected)}; got ${String(actual)}.`,
  'exclusive-maximum': ({ expected, actual }) => `must be less than ${String(expected)}; got ${String(actual)}.`,
  'multiple-of': ({ expected, actual }) => `must be a multiple of ${String(expected)}; got ${String(actual)}.`,
  'min-length': ({ expected, actual }) => `must have at least ${characters(expected)}; it has ${String(actual)}.`,
  'max-length': ({ expected, actual }) => `must have at most ${characters(expected)}; it has ${String(actual)}.`,
  'min-items': ({ expected, actual }) => `must have at least ${entries(expected)}; it has ${String(actual)}.`,
  'max-items': ({ expected, actual }) => `must have at most ${entries(expected)}; it has ${String(actual)}.`,
  'unique-items': () => 'must not have the same entry twice.',
  pattern: ({ expected, actual }) => `must ${patternWords.get(String(expected)) ?? `match ${String(expected)}`}; got ${quote(actual)}.`,
  'min-properties': ({ expected, actual }) => `must have at least ${memberCount(expected)}; it has ${String(actual)}.`,
  'max-properties': ({ expected, actual }) => `must have at most ${memberCount(expected)}; it has ${String(actual)}.`,
  'unknown-field': ({ expected }) => `is unknown; known are: ${list(expected, 'and') || 'none'}.`,
  refine: ({ expected }) => `${String(expected)}.`,
  'no-variant': ({ expected }) => `must be ${list(expected, 'or')}.`,
};

export const placeWords = { params: 'path parameter', query: 'query parameter', body: 'field' } as const;

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
