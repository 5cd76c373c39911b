import { GatewayError } from '../inference/gateway-error.ts';
import type { SchemaProblem } from '../platform/schema/schema-problem.ts';
import { wordProblem } from './word-problem.ts';

type Wording = { readonly text: string; readonly code: string };

/** What the wording cannot read off a problem: the same number may be a whole one or a fraction, an array may hold anything. */
type OpenaiWords = {
  /** Names of fields that are whole numbers; the vendor speaks of all others as decimals. */
  readonly integerFields: ReadonlySet<string | number>;
  /** Names of fields whose arrays hold strings; the others hold objects. */
  readonly stringArrayFields: ReadonlySet<string | number>;
};

/** A path as the vendor writes it: `messages[0].content[1].text`. */
function wordPath(path: SchemaProblem['path']): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

const article = (noun: string): string => (/^[aeio]/.test(noun) ? `an ${noun}` : `a ${noun}`);

const listOf = (expected: SchemaProblem['expected']): string[] =>
  typeof expected === 'object' ? expected.map(String) : [String(expected)];

function joinWords(words: readonly string[], conjunction: string): string {
  return words.length < 3 ? words.join(` ${conjunction} `) : `${words.slice(0, -1).join(', ')}, ${conjunction} ${words.at(-1)}`;
}

function wordType(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  const arrays = words.stringArrayFields.has(problem.path.at(-1) ?? '') ? 'array of strings' : 'array of objects';
  const nouns = listOf(problem.expected)
    .filter((type, _, all) => type !== 'null' || all.length === 1)
    .map((type) => (type === 'number' ? 'decimal' : type === 'array' ? arrays : type));
  const expected = nouns.length === 1 ? article(nouns.join('')) : `one of ${article(joinWords(nouns, 'or'))}`;
  const actual = problem.actual === 'null' ? 'null' : article(problem.actual === 'number' ? 'decimal' : String(problem.actual));
  return { text: `Invalid type for '${name}': expected ${expected}, but got ${actual} instead.`, code: 'invalid_type' };
}

/** The vendor leaves the field's name to `param`; most programs show the text only, so it stands here too. */
function wordEnum(problem: SchemaProblem, name: string): Wording {
  const supported = listOf(problem.expected).map((value) => `'${value}'`);
  const actual = typeof problem.actual === 'string' ? `'${problem.actual}'` : String(problem.actual);
  const list =
    supported.length === 1 ? `Supported value is: ${supported.join('')}` : `Supported values are: ${joinWords(supported, 'and')}`;
  return { text: `Invalid value for '${name}': ${actual}. ${list}.`, code: 'invalid_value' };
}

function wordBound(problem: SchemaProblem, name: string, words: OpenaiWords): Wording {
  const isBelow = problem.rule === 'minimum' || problem.rule === 'exclusive-minimum';
  const kind = words.integerFields.has(problem.path.at(-1) ?? '') ? 'integer' : 'decimal';
  const sign = `${isBelow ? '>' : '<'}${problem.rule.startsWith('exclusive') ? '' : '='}`;
  return {
    text: `Invalid '${name}': ${kind} ${isBelow ? 'below minimum' : 'above maximum'} value. Expected a value ${sign} ${String(problem.expected)}, but got ${String(problem.actual)} instead.`,
    code: `${kind}_${isBelow ? 'below_min' : 'above_max'}_value`,
  };
}

function wordLength(problem: SchemaProblem, name: string, kind: 'string' | 'array'): Wording {
  const isBelow = problem.rule.startsWith('min');
  const isEmpty = problem.actual === 0;
  const wrong = isEmpty ? `empty ${kind}` : `${kind} too ${isBelow ? 'short' : 'long'}`;
  const actual = isEmpty ? `an empty ${kind}` : `${article(kind)} with length ${String(problem.actual)}`;
  return {
    text: `Invalid '${name}': ${wrong}. Expected ${article(kind)} with ${isBelow ? 'minimum' : 'maximum'} length ${String(problem.expected)}, but got ${actual} instead.`,
    code: isEmpty ? `empty_${kind}` : `${kind}_${isBelow ? 'below_min' : 'above_max'}_length`,
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
      return wordEnum(problem, name);
    case 'minimum':
    case 'maximum':
    case 'exclusive-minimum':
    case 'exclusive-maximum':
      return wordBound(problem, name, words);
    case 'min-length':
    case 'max-length':
      return wordLength(problem, name, 'string');
    case 'min-items':
    case 'max-items':
      return wordLength(problem, name, 'array');
    case 'pattern': {
      const text = `Invalid '${name}': string does not match pattern. Expected a string that matches the pattern '${String(problem.expected)}', but got '${String(problem.actual)}' instead.`;
      return { text, code: 'invalid_value' };
    }
    case 'multiple-of':
    case 'unique-items':
    case 'min-properties':
    case 'max-properties':
    case 'refine':
    case 'no-variant':
      return { text: `Invalid '${name}': ${wordProblem(problem)}.`, code: 'invalid_value' };
  }
}

/**
 * Says a problem of a request body as OpenAI says it, with the path of the field in `param` and the vendor's machine code in
 * `details.openai_code`, which its dialects put into the body.
 */
export function wordOpenaiProblem(problem: SchemaProblem, words: OpenaiWords): GatewayError {
  const name = wordPath(problem.path);
  const { text, code } = chooseWording(problem, name === '' ? 'body' : name, words);
  const ourCode =
    problem.rule === 'required' ? 'missing_required_field' : problem.rule === 'unknown-field' ? 'unknown_field' : 'invalid_value';
  return new GatewayError(ourCode, text, { ...(name !== '' && { param: name }), details: { openai_code: code } });
}
