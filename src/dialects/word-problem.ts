import { nearestName } from '../platform/nearest-name.ts';
import type { SchemaProblem } from '../platform/schema/schema-problem.ts';

function article(typeName: string): string {
  if (typeName === 'null' || typeName === 'undefined') return typeName;
  return /^[aeio]/.test(typeName) ? `an ${typeName}` : `a ${typeName}`;
}

const quote = (value: string | number): string => (typeof value === 'string' ? `'${value}'` : String(value));

/**
 * JSON type names that follow "must be". Null is omitted if another type is right too, because the hint helps nobody.
 */
function wordTypes(expected: SchemaProblem['expected']): string {
  if (typeof expected !== 'object') return article(String(expected));
  const names = expected.map(String).filter((name, _, all) => name !== 'null' || all.length === 1);
  return names.length === 0 ? 'another type' : names.map(article).join(' or ');
}

function listExpected(expected: SchemaProblem['expected'], word: (value: string | number) => string): string {
  return typeof expected === 'object' ? expected.map(word).join(', ') : word(expected);
}

/** The known field that was probably meant. */
function suggestField({ path, expected }: SchemaProblem): string {
  const [name, knownNames] = [path.at(-1), typeof expected === 'object' ? expected.map(String) : []];
  const suggestion = typeof name === 'string' ? nearestName(name, knownNames) : undefined;
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
}

/** The right value without the field's name: "must be at least 1". Follows a path. */
function wordExpectation(problem: SchemaProblem): string {
  const { rule, expected } = problem;
  const bound = String(expected);
  switch (rule) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${wordTypes(expected)}`;
    case 'enum':
      return `must be ${typeof expected === 'object' && expected.length !== 1 ? 'one of ' : ''}${listExpected(expected, quote)}`;
    case 'minimum':
      return `must be at least ${bound}`;
    case 'maximum':
      return `must be at most ${bound}`;
    case 'exclusive-minimum':
      return `must be greater than ${bound}`;
    case 'exclusive-maximum':
      return `must be less than ${bound}`;
    case 'min-length':
      return `must have at least ${bound} character${expected === 1 ? '' : 's'}`;
    case 'max-length':
      return `must have at most ${bound} character${expected === 1 ? '' : 's'}`;
    case 'min-items':
      return `must have at least ${bound} item${expected === 1 ? '' : 's'}`;
    case 'max-items':
      return `must have at most ${bound} item${expected === 1 ? '' : 's'}`;
    case 'unique-items':
      return 'must not repeat an item';
    case 'min-properties':
      return `must have at least ${bound} member${expected === 1 ? '' : 's'}`;
    case 'max-properties':
      return `must have at most ${bound} member${expected === 1 ? '' : 's'}`;
    case 'multiple-of':
      return `must be a multiple of ${bound}`;
    case 'refine':
      return bound;
    case 'pattern':
      return `must match ${bound}`;
    case 'unknown-field':
      return `is not a known field${suggestField(problem)}`;
    case 'no-variant':
      return `must be ${typeof expected === 'object' && expected.length !== 1 ? 'one of ' : ''}${listExpected(expected, String)}`;
  }
}

/**
 * The right value and the actual one, to follow the field's path: "must be at least 1, but got 0", "must be one of
 * 'user', 'assistant', but got 'robot'", "is required".
 */
export function wordProblem(problem: SchemaProblem): string {
  const expectation = wordExpectation(problem);
  const { actual, rule } = problem;
  if (actual === undefined || rule === 'required' || rule === 'unknown-field' || rule === 'unique-items') return expectation;
  // For a wrong type, `actual` is the name of the JSON type. Otherwise it is the value itself.
  const got = typeof actual !== 'string' ? String(actual) : rule === 'type' ? article(actual) : `'${actual}'`;
  return `${expectation}, but got ${got}`;
}
