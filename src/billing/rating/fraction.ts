import type { Fraction } from './decimal.ts';

// Exact arithmetic. Nothing is shortened: the expressions that use it are so small that their numbers stay small, and sums do by the way `add` goes.

export const zero: Fraction = { numerator: 0n, denominator: 1n };

export function fractionOf(whole: number | bigint): Fraction {
  return { numerator: BigInt(whole), denominator: 1n };
}

/** A sum of however many numbers has a denominator of at most the product of their different ones: where one is a multiple of the other, it stays. */
export function add(one: Fraction, other: Fraction): Fraction {
  if (one.denominator % other.denominator === 0n) {
    return { numerator: one.numerator + other.numerator * (one.denominator / other.denominator), denominator: one.denominator };
  }
  if (other.denominator % one.denominator === 0n) return add(other, one);
  return {
    numerator: one.numerator * other.denominator + other.numerator * one.denominator,
    denominator: one.denominator * other.denominator,
  };
}

export function negate({ numerator, denominator }: Fraction): Fraction {
  return { numerator: -numerator, denominator };
}

export function multiply(one: Fraction, other: Fraction): Fraction {
  return { numerator: one.numerator * other.numerator, denominator: one.denominator * other.denominator };
}

/** One divided by a number other than 0. Throws RangeError for 0. */
export function invert({ numerator, denominator }: Fraction): Fraction {
  if (numerator === 0n) throw new RangeError('Nothing can be divided by 0.');
  return numerator < 0n ? { numerator: -denominator, denominator: -numerator } : { numerator: denominator, denominator: numerator };
}

/** Below, at or above zero as `one` is less than, equal to or greater than `other`. */
export function compare(one: Fraction, other: Fraction): number {
  const difference = one.numerator * other.denominator - other.numerator * one.denominator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

export function smaller(one: Fraction, other: Fraction): Fraction {
  return compare(other, one) < 0 ? other : one;
}

export function larger(one: Fraction, other: Fraction): Fraction {
  return compare(other, one) > 0 ? other : one;
}

/** The next whole number below it, or itself. */
export function floor({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** The next whole number above it, or itself. */
export function ceil(value: Fraction): bigint {
  return -floor(negate(value));
}

const decimalsMax = 12;
const scale = 10n ** BigInt(decimalsMax);

/** It as a decimal string with at most 12 decimals, rounded half up; less than 0 is 0. */
export function writeDecimal({ numerator, denominator }: Fraction): string {
  if (numerator <= 0n) return '0';
  const scaled = (2n * numerator * scale + denominator) / (2n * denominator);
  const decimals = (scaled % scale).toString().padStart(decimalsMax, '0').replace(/0+$/, '');
  return `${scaled / scale}${decimals === '' ? '' : `.${decimals}`}`;
}

const numberExpression = /^([+-]?)(\d{1,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,3}))?$/;
const exponentMax = 40;

/** Reads a number as JSON and lenient servers write it (`15`, `1e1`, `"15"`, ` +15. `), exactly. Undefined for anything else, and for what has more than 40 digits or powers of ten. */
export function readNumber(text: string): Fraction | undefined {
  const [match, sign, whole = '', decimals = '', power = '0'] = numberExpression.exec(text.trim()) ?? [];
  const exponent = Number(power);
  if (match === undefined || Math.abs(exponent) > exponentMax) return undefined;
  const digits = BigInt(whole + decimals) * (sign === '-' ? -1n : 1n);
  const shift = exponent - decimals.length;
  return shift >= 0
    ? { numerator: digits * 10n ** BigInt(shift), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-shift) };
}
