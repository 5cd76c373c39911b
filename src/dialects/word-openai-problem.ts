import { GatewayError } from '../inference/gateway-error.ts';
import type { SchemaProblem } from '../platform/schema/schema-problem.ts';
import { formatPath } from './format-path.ts';
import { wordProblem } from './word-problem.ts';

/** The last step of a problem's path: the name of the field, or an index of an array. */
type Field = string | number;

type Wording = { readonly text: string; readonly code: string };

/** The differences between the vendor's two interfaces that a problem alone does not decide. */
export type OpenaiWords = {
  /** Whether the field is an integer. The vendor calls all other numbers decimals, and `3` may be either. */
  readonly isIntegerField: (field: Field) => boolean;
  /** The JSON types that are right, with their articles: "a string", "one of a string or array of objects". */
  readonly wordTypes: (types: readonly string[], field: Field) => string;
  /** The message for a value that is none of the supported values. All values are quoted. */
  readonly wordEnum: (name: string, actual: string, supported: string) => string;
  /** Descriptions of patterns by field, because people do not read regular expressions. */
  readonly patternWords?: Readonly<Record<string, string>>;
};

export const withArticle = (noun: string): string => (/^[aeio]/.test(noun) ? `an ${noun}` : `a ${noun}`);

export function joinWords(words: readonly string[], conjunction: string): string {
  return words.length < 3 ? words.join(` ${conjunction} `) : `${words.slice(0, -1).join(', ')}, ${conjunction} ${words.at(-1)}`;
}

/** A JSON type as the vendor names it, with its article. */
export function wordTypeName(type: string): string {
  if (type === 'null') return 'null';
  return withArticle(type === 'number' ? 'decimal' : type === 'infinity' ? 'infinite number' : type);
}

const lastStep = (problem: SchemaProblem): Field => problem.path.at(-1) ?? '';

const listOf = (expected: SchemaProblem['expected']): string[] =>
  typeof expected === 'object' ? expected.map(String) : [String(expected)];

function wordType(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  const expected = words.wordTypes(listOf(problem.expected), lastStep(problem));
  return {
    text: `Invalid type for '${name}': expected ${expected}, but got ${wordTypeName(String(problem.actual))} instead.`,
    code: 'invalid_type',
  };
}

function wordEnum(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  const supported = listOf(problem.expected).map((value) => (value === 'null' ? 'null' : `'${value}'`));
  const actual = typeof problem.actual === 'string' ? `'${problem.actual}'` : String(problem.actual);
  const list =
    supported.length === 1 ? `Supported value is: ${supported.join('')}.` : `Supported values are: ${joinWords(supported, 'and')}.`;
  return { text: words.wordEnum(name, actual, list), code: 'invalid_value' };
}

function wordBound(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  const isBelow = problem.rule === 'minimum' || problem.rule === 'exclusive-minimum';
  const kind = words.isIntegerField(lastStep(problem)) ? 'integer' : 'decimal';
  const sign = `${isBelow ? '>' : '<'}${problem.rule.startsWith('exclusive') ? '' : '='}`;
  return {
    text: `Invalid '${name}': ${kind} ${isBelow ? 'below minimum' : 'above maximum'} value. Expected a value ${sign} ${String(problem.expected)}, but got ${String(problem.actual)} instead.`,
    code: `${kind}_${isBelow ? 'below_min' : 'above_max'}_value`,
  };
}

/** Sizes: characters of a string, items of an array, members of an object. */
function wordSize(problem: SchemaProblem, name: string, kind: 'string' | 'array' | 'object'): Wording {
  const isBelow = problem.rule.startsWith('min');
  const size = (count: unknown): string => (kind === 'object' ? `${String(count)} properties` : `length ${String(count)}`);
  const isEmpty = problem.actual === 0;
  const wrong = kind === 'object' ? `too ${isBelow ? 'few' : 'many'} properties` : `${kind} too ${isBelow ? 'short' : 'long'}`;
  const bound = `${isBelow ? 'minimum' : 'maximum'} ${size(problem.expected)}`;
  const got = isEmpty ? `an empty ${kind}` : `${withArticle(kind)} with ${size(problem.actual)}`;
  return {
    text: `Invalid '${name}': ${isEmpty ? `empty ${kind}` : wrong}. Expected ${withArticle(kind)} with ${bound}, but got ${got} instead.`,
    code: isEmpty ? `empty_${kind}` : `${kind}_${isBelow ? 'below_min' : 'above_max'}_${kind === 'object' ? 'properties' : 'length'}`,
  };
}

function wordPattern(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  const expected = words.patternWords?.[String(lastStep(problem))] ?? `a string that matches the pattern '${String(problem.expected)}'`;
  return {
    text: `Invalid '${name}': string does not match pattern. Expected ${expected}, but got '${String(problem.actual)}' instead.`,
    code: 'invalid_value',
  };
}

function chooseWording(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  switch (problem.rule) {
    case 'required':
      return { text: `Missing required parameter: '${name}'.`, code: 'missing_required_parameter' };
    case 'unknown-field':
      return { text: `Unknown parameter: '${name}'.`, code: 'unknown_parameter' };
    case 'type':
      return wordType(problem, name, words);
    case 'enum':
      return wordEnum(problem, name, words);
    case 'minimum':
    case 'maximum':
    case 'exclusive-minimum':
    case 'exclusive-maximum':
      return wordBound(problem, name, words);
    case 'min-length':
    case 'max-length':
      return wordSize(problem, name, 'string');
    case 'min-items':
    case 'max-items':
      return wordSize(problem, name, 'array');
    case 'min-properties':
    case 'max-properties':
      return wordSize(problem, name, 'object');
    case 'pattern':
      return wordPattern(problem, name, words);
    case 'multiple-of':
    case 'unique-items':
    case 'refine':
    case 'no-variant':
      return { text: `Invalid '${name}': ${wordProblem(problem)}.`, code: 'invalid_value' };
  }
}

/**
 * Words a problem of a request body as OpenAI does. The path of the field is in `param`, and the vendor's machine code
 * is in `details.openai_code`, which its dialects put into the body.
 */
export function wordOpenaiProblem(problem: SchemaProblem, words: OpenaiWords): GatewayError {
  const name = formatPath(problem.path) || 'body';
  const { text, code } = chooseWording(problem, name, words);
  const ourCode =
    problem.rule === 'required' ? 'missing_required_field' : problem.rule === 'unknown-field' ? 'unknown_field' : 'invalid_value';
  return new GatewayError(ourCode, text, { param: name, details: { openai_code: code } });
}
