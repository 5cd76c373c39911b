import type { Fraction } from '../decimal.ts';
import { add, ceil, floor, fractionOf, larger, multiply, negate, smaller } from '../fraction.ts';
import type { CountName, ParameterName } from './expression-names.ts';
import type { ExpressionNode } from './expression-node.ts';
import {
  absent,
  between,
  equal,
  exactly,
  type ExpressionValue,
  isBelow,
  join,
  type NumberValue,
  toNumber,
  type Truth,
  truth,
} from './expression-value.ts';

/** The values for an expression: of a finished call, or of a planned one, of which less is known. */
export type ExpressionScope = {
  readonly count: (name: CountName) => NumberValue;
  readonly parameter: (name: ParameterName) => ExpressionValue;
  readonly pointer: (pointer: string) => ExpressionValue;
};

/**
 * Evaluates an expression with the known values. The result is an interval that contains the final value, whatever the
 * unknown values become. So a price and its bound are the same computation. Takes at most as many steps as the
 * expression has nodes.
 */
export function evaluateExpression(node: ExpressionNode, scope: ExpressionScope): ExpressionValue {
  const value = (part: ExpressionNode): ExpressionValue => evaluateExpression(part, scope);
  const condition = (part: ExpressionNode): Truth => asTruth(value(part));
  switch (node.type) {
    case 'number':
      return exactly(node.value);
    case 'text':
      return { is: 'text', text: node.text };
    case 'boolean':
      return truth(node.value);
    case 'pointer':
      return scope.pointer(node.pointer);
    case 'parameter':
      return scope.parameter(node.name);
    case 'count':
      return scope.count(node.name);
    case 'not':
      return not(condition(node.operand));
    case 'and':
      return both(condition(node.left), condition(node.right));
    case 'or':
      return not(both(not(condition(node.left)), not(condition(node.right))));
    case 'negate':
      return overNumbers([value(node.operand)], ([{ low, high }]) => [negate(high), negate(low)]);
    case 'arithmetic':
      return overNumbers([value(node.left), value(node.right)], arithmetic[node.operator]);
    case 'compare':
      return compareValues(node.operator, value(node.left), value(node.right));
    case 'in':
      return isMember(value(node.left), node.items.map(value));
    case 'coalesce':
      return isNumeric(node)
        ? coalesce(toNumber(value(node.left)), toNumber(value(node.right)))
        : coalesce(value(node.left), value(node.right));
    case 'choose':
      return choose(
        condition(node.condition),
        () => value(node.whenTrue),
        () => value(node.whenFalse),
      );
    case 'call':
      return call(node.name, node.operands.map(value));
  }
}

/** A condition that the checker has accepted. */
function asTruth(value: ExpressionValue): Truth {
  if (value.is === 'boolean') return value;
  throw new TypeError('The expression was not checked.');
}

function not({ mayBeTrue, mayBeFalse }: Truth): Truth {
  return { is: 'boolean', mayBeTrue: mayBeFalse, mayBeFalse: mayBeTrue };
}

function both(left: Truth, right: Truth): Truth {
  return {
    is: 'boolean',
    mayBeTrue: left.mayBeTrue && right.mayBeTrue,
    mayBeFalse: left.mayBeFalse || right.mayBeFalse,
  };
}

function isMember(value: ExpressionValue, items: readonly ExpressionValue[]): Truth {
  return not(items.map((item) => not(equal(value, item))).reduce(both));
}

function choose(condition: Truth, whenTrue: () => ExpressionValue, whenFalse: () => ExpressionValue): ExpressionValue {
  if (!condition.mayBeFalse) return whenTrue();
  return condition.mayBeTrue ? join(whenTrue(), whenFalse()) : whenFalse();
}

type Bounds = readonly [low: Fraction, high: Fraction];
type Numbers = readonly [NumberValue, ...NumberValue[]];

/** Calculates with numbers; the result is absent if a value is not a number. */
function overNumbers(values: readonly ExpressionValue[], compute: (numbers: Numbers) => Bounds): ExpressionValue {
  const numbers: NumberValue[] = [];
  for (const value of values) {
    const number = toNumber(value);
    if (number.is !== 'number') return absent;
    numbers.push(number);
  }
  const [first, ...others] = numbers;
  if (first === undefined) return absent;
  const [low, high] = compute([first, ...others]);
  return between(
    low,
    high,
    numbers.some(({ mayBeAbsent }) => mayBeAbsent),
  );
}

const none = exactly(fractionOf(0));

const arithmetic = {
  '+': ([left, right = none]: Numbers): Bounds => [add(left.low, right.low), add(left.high, right.high)],
  '-': ([left, right = none]: Numbers): Bounds => [add(left.low, negate(right.high)), add(left.high, negate(right.low))],
  '*': ([left, right = none]: Numbers): Bounds => {
    const [first, ...others] = [multiply(left.low, right.low), multiply(left.low, right.high), multiply(left.high, right.low)] as const;
    const products = [...others, multiply(left.high, right.high)];
    return [products.reduce(smaller, first), products.reduce(larger, first)];
  },
} as const;

function compareValues(
  operator: Extract<ExpressionNode, { type: 'compare' }>['operator'],
  left: ExpressionValue,
  right: ExpressionValue,
): Truth {
  switch (operator) {
    case '==':
      return equal(left, right);
    case '!=':
      return not(equal(left, right));
    case '<':
    case '<=':
      return isBelow(left, right, operator === '<=');
    case '>':
    case '>=':
      return isBelow(right, left, operator === '>=');
  }
}

const numeric: ReadonlySet<ExpressionNode['type']> = new Set(['number', 'count', 'negate', 'arithmetic']);

/**
 * Whether a checked expression is always a number or absent: values that are compared with numbers are read as numbers.
 */
function isNumeric(node: ExpressionNode): boolean {
  if (node.type === 'coalesce') return isNumeric(node.left) || isNumeric(node.right);
  if (node.type === 'choose') return isNumeric(node.whenTrue);
  return node.type === 'call' ? node.name !== 'present' : numeric.has(node.type);
}

/** The first value unless it is absent. */
function coalesce(first: ExpressionValue, second: ExpressionValue): ExpressionValue {
  if (first.is === 'absent') return second;
  return first.is === 'number' && first.mayBeAbsent ? join({ ...first, mayBeAbsent: false }, second) : first;
}

function call(name: Extract<ExpressionNode, { type: 'call' }>['name'], operands: readonly ExpressionValue[]): ExpressionValue {
  const [operand = absent] = operands;
  switch (name) {
    case 'present':
      return operand.is === 'unknown' ? { is: 'boolean', mayBeTrue: true, mayBeFalse: true } : truth(operand.is !== 'absent');
    case 'size':
      return operand.is === 'collection' ? exactly(fractionOf(operand.size)) : absent;
    case 'ceil':
      return overNumbers(operands, ([{ low, high }]) => [fractionOf(ceil(low)), fractionOf(ceil(high))]);
    case 'floor':
      return overNumbers(operands, ([{ low, high }]) => [fractionOf(floor(low)), fractionOf(floor(high))]);
    case 'min':
    case 'max': {
      const choose_ = name === 'min' ? smaller : larger;
      return overNumbers(operands, (numbers) => [
        numbers.map(({ low }) => low).reduce(choose_),
        numbers.map(({ high }) => high).reduce(choose_),
      ]);
    }
  }
}
