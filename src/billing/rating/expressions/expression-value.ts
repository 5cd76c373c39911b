import type { Fraction } from '../decimal.ts';
import { compare, fractionOf, larger, readNumber, smaller } from '../fraction.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';

/**
 * The value of an expression, as far as it is known. For a finished call it is exact: `low` equals `high`, and exactly
 * one truth value is possible. For a planned call, a count is between bounds, and a value of the reply is `unknown`:
 * any text, or none.
 */
export type ExpressionValue =
  | { readonly is: 'number'; readonly low: Fraction; readonly high: Fraction; readonly mayBeAbsent: boolean }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'boolean'; readonly mayBeTrue: boolean; readonly mayBeFalse: boolean }
  /** An array or object with this number of members. */
  | { readonly is: 'collection'; readonly size: number }
  | { readonly is: 'unknown' }
  | { readonly is: 'absent' };

export type Truth = Extract<ExpressionValue, { is: 'boolean' }>;
export type NumberValue = Extract<ExpressionValue, { is: 'number' }>;

export const absent: ExpressionValue = { is: 'absent' };
export const unknown: ExpressionValue = { is: 'unknown' };
export const isTrue: Truth = { is: 'boolean', mayBeTrue: true, mayBeFalse: false };
const isFalse: Truth = { is: 'boolean', mayBeTrue: false, mayBeFalse: true };
const isEither: Truth = { is: 'boolean', mayBeTrue: true, mayBeFalse: true };

export const truth = (holds: boolean): Truth => (holds ? isTrue : isFalse);

export function exactly(value: Fraction): NumberValue {
  return { is: 'number', low: value, high: value, mayBeAbsent: false };
}

export function between(low: Fraction, high: Fraction, mayBeAbsent = false): NumberValue {
  return { is: 'number', low, high, mayBeAbsent };
}

/**
 * The value of a pricing parameter in JSON text; `[3]` and `{3}` stand for an array and an object with three members.
 */
export function readParameter(text: string | undefined): ExpressionValue {
  if (text === undefined || text === 'null') return absent;
  const collection = /^(?:\[(\d{1,9})\]|\{(\d{1,9})\})$/.exec(text);
  if (collection !== null) return { is: 'collection', size: Number(collection[1] ?? collection[2]) };
  if (text === 'true' || text === 'false') return truth(text === 'true');
  if (!text.startsWith('"')) {
    const number = readNumber(text);
    return number === undefined ? absent : exactly(number);
  }
  const value = parseJson(text);
  return typeof value === 'string' ? { is: 'text', text: value } : absent;
}

/** Converts to a number. A text of digits is one, as lenient servers read it. Absent for anything else. */
export function toNumber(value: ExpressionValue): NumberValue | typeof absent {
  if (value.is === 'number') return value;
  const number = value.is === 'text' ? readNumber(value.text) : undefined;
  return number === undefined ? absent : exactly(number);
}

const trueWords = new Set(['true', '1', 'yes', 'on']);
const falseWords = new Set(['false', '0', 'no', 'off']);
const [none, one] = [fractionOf(0), fractionOf(1)];

/** Converts to a truth value, as lenient servers read it: `1` and `"true"` are true. Undefined for anything else. */
function toTruth(value: ExpressionValue): Truth | undefined {
  if (value.is === 'boolean') return value;
  if (value.is === 'number' && compare(value.low, value.high) === 0) {
    if (compare(value.low, one) === 0) return isTrue;
    return compare(value.low, none) === 0 ? isFalse : undefined;
  }
  const word = value.is === 'text' ? value.text.trim().toLowerCase() : '';
  if (trueWords.has(word)) return isTrue;
  return falseWords.has(word) ? isFalse : undefined;
}

/** Whether two values are equal, as far as is known. An absent value, an array and an object equal nothing. */
export function equal(left: ExpressionValue, right: ExpressionValue): Truth {
  if (left.is === 'absent' || right.is === 'absent') return isFalse;
  if (left.is === 'unknown' || right.is === 'unknown') return isEither;
  if (left.is === 'boolean' || right.is === 'boolean') return equalTruths(toTruth(left), toTruth(right));
  if (left.is === 'text' && right.is === 'text') return truth(left.text === right.text);
  const [first, second] = [toNumber(left), toNumber(right)];
  if (first.is !== 'number' || second.is !== 'number') return isFalse;
  return equalNumbers(first, second);
}

function equalTruths(left: Truth | undefined, right: Truth | undefined): Truth {
  if (left === undefined || right === undefined) return isFalse;
  const mayBeTrue = (left.mayBeTrue && right.mayBeTrue) || (left.mayBeFalse && right.mayBeFalse);
  return { is: 'boolean', mayBeTrue, mayBeFalse: (left.mayBeTrue && right.mayBeFalse) || (left.mayBeFalse && right.mayBeTrue) };
}

function equalNumbers(left: NumberValue, right: NumberValue): Truth {
  const overlaps = compare(left.low, right.high) <= 0 && compare(right.low, left.high) <= 0;
  const isSame = compare(left.low, right.high) === 0 && compare(left.high, right.low) === 0;
  return { is: 'boolean', mayBeTrue: overlaps, mayBeFalse: !isSame || left.mayBeAbsent || right.mayBeAbsent };
}

/**
 * Whether `left` is less than `right`, or equal with `orEqual`. Values that are absent or not numbers compare as false.
 */
export function isBelow(left: ExpressionValue, right: ExpressionValue, orEqual: boolean): Truth {
  const [first, second] = [toNumber(left), toNumber(right)];
  if (first.is !== 'number' || second.is !== 'number') return isFalse;
  const limit = orEqual ? 0 : -1;
  const mayBeTrue = compare(first.low, second.high) <= limit;
  const mayBeFalse = compare(first.high, second.low) > limit || first.mayBeAbsent || second.mayBeAbsent;
  return { is: 'boolean', mayBeTrue, mayBeFalse };
}

/** The interval of a value that is one or the other. */
export function join(first: ExpressionValue, second: ExpressionValue): ExpressionValue {
  if (first.is === 'boolean' && second.is === 'boolean')
    return { is: 'boolean', mayBeTrue: first.mayBeTrue || second.mayBeTrue, mayBeFalse: first.mayBeFalse || second.mayBeFalse };
  if (first.is === 'number' && second.is === 'number')
    return between(smaller(first.low, second.low), larger(first.high, second.high), first.mayBeAbsent || second.mayBeAbsent);
  if (first.is === 'number' && second.is === 'absent') return { ...first, mayBeAbsent: true };
  if (first.is === 'absent' && second.is === 'number') return { ...second, mayBeAbsent: true };
  if (first.is === 'text' && second.is === 'text' && first.text === second.text) return first;
  return first.is === 'absent' && second.is === 'absent' ? absent : unknown;
}
