import { GatewayError } from '../../inference/gateway-error.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';

type Path = SchemaProblem['path'];

/** A path as the vendor writes it: `input[0].content[1].text`. */
function formatPath(path: Path): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

/** The fields that are fractions: the vendor's words and codes tell them from whole numbers, and `3` may be either. */
const decimalFields = new Set<string | number>(['temperature', 'top_p', 'score_threshold']);

const article = (name: string): string => (/^[aeio]/.test(name) ? `an ${name}` : `a ${name}`);

/** JSON type names as the vendor says them. */
const wordType = (name: string | number): string =>
  name === 'null' ? 'null' : name === 'number' ? 'a decimal' : article(name === 'infinity' ? 'infinite number' : String(name));

function joinWords(words: readonly string[], last: string): string {
  if (words.length < 3) return words.join(` ${last} `);
  return `${words.slice(0, -1).join(', ')}, ${last} ${words.at(-1)}`;
}

const asList = (expected: SchemaProblem['expected']): readonly (string | number)[] =>
  typeof expected === 'object' ? expected : [expected];

type Wording = { readonly text: string; readonly code: string };

/** The vendor names the field in `param` only; we also name it in the text, since that is all most programs show. */
function wordEnum(problem: SchemaProblem, name: string): Wording {
  const supported = asList(problem.expected).map((value) => (value === 'null' ? 'null' : `'${value}'`));
  const actual = typeof problem.actual === 'string' ? `'${problem.actual}'` : String(problem.actual);
  const values = supported.length === 1 ? `Supported value is: ${supported[0]}` : `Supported values are: ${joinWords(supported, 'and')}`;
  return { text: `Invalid value: ${actual}. ${values}. Parameter: '${name}'.`, code: 'invalid_value' };
}

function wordBound(problem: SchemaProblem, name: string): Wording {
  const isBelow = problem.rule === 'minimum' || problem.rule === 'exclusive-minimum';
  const kind = decimalFields.has(problem.path.at(-1) ?? '') ? 'decimal' : 'integer';
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
  const got = isEmpty ? `an empty ${kind}` : `${article(kind)} with ${size(problem.actual)}`;
  return {
    text: `Invalid '${name}': ${isEmpty ? `empty ${kind}` : wrong}. Expected ${article(kind)} with ${bound}, but got ${got} instead.`,
    code: isEmpty ? `empty_${kind}` : `${kind}_${isBelow ? 'below_min' : 'above_max'}_${kind === 'object' ? 'properties' : 'length'}`,
  };
}

function wordTypeProblem(problem: SchemaProblem, name: string): Wording {
  const expected = asList(problem.expected).map(wordType);
  const wanted = expected.length === 1 ? expected[0] : `one of ${joinWords(expected, 'or')}`;
  return {
    text: `Invalid type for '${name}': expected ${wanted}, but got ${wordType(String(problem.actual))} instead.`,
    code: 'invalid_type',
  };
}

/** What the patterns of the request schema ask for. Regular expressions say it to programs only. */
const patternWords: Readonly<Record<string, string>> = {
  country: 'a two-letter ISO country code such as US',
  timezone: 'an IANA time zone such as America/Los_Angeles',
  image_url: 'a full URL (http or https) or a base64 data URL',
  name: "a string of letters, digits, underscores and dashes that matches the pattern '^[a-zA-Z0-9_-]+$'",
};

function wordPattern({ path, expected, actual }: SchemaProblem, name: string): Wording {
  const wanted = patternWords[String(path.at(-1))] ?? `a string that matches the pattern '${String(expected)}'`;
  return {
    text: `Invalid '${name}': string does not match pattern. Expected ${wanted}, but got '${String(actual)}' instead.`,
    code: 'invalid_value',
  };
}

function wordProblem(problem: SchemaProblem, name: string): Wording {
  switch (problem.rule) {
    case 'required':
      return { text: `Missing required parameter: '${name}'.`, code: 'missing_required_parameter' };
    case 'unknown-field':
      return { text: `Unknown parameter: '${name}'.`, code: 'unknown_parameter' };
    case 'type':
      return wordTypeProblem(problem, name);
    case 'enum':
      return wordEnum(problem, name);
    case 'minimum':
    case 'maximum':
    case 'exclusive-minimum':
    case 'exclusive-maximum':
      return wordBound(problem, name);
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
      return wordPattern(problem, name);
    case 'multiple-of':
    case 'unique-items':
    case 'refine':
    case 'no-variant':
      return { text: `Invalid '${name}': expected ${joinWords(asList(problem.expected).map(String), 'or')}.`, code: 'invalid_value' };
  }
}

const codeByRule: Partial<Record<SchemaProblem['rule'], 'missing_required_field' | 'unknown_field'>> = {
  required: 'missing_required_field',
  'unknown-field': 'unknown_field',
};

/** Says a problem of a request in the vendor's words, with its machine code and the path of the field. */
export function wordRequestProblem(problem: SchemaProblem): GatewayError {
  const isMetadataKey = problem.path[0] === 'metadata' && problem.rule === 'max-length' && problem.expected === 64;
  const name = formatPath(isMetadataKey ? ['metadata'] : problem.path) || 'body';
  const { text, code } = isMetadataKey
    ? {
        text: `Invalid property name in 'metadata': '${String(problem.path[1])}'. Expected a string with maximum length 64, but got a string with length ${String(problem.actual)} instead.`,
        code: 'string_above_max_length',
      }
    : wordProblem(problem, name);
  return new GatewayError(codeByRule[problem.rule] ?? 'invalid_value', text, { param: name, details: { openai_code: code } });
}
