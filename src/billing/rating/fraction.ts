import type { Fraction } from './decimal.ts';

// Exact arithmetic. Fractions are reduced only by `reduce`: expressions are so small that their numbers stay small, and
// `add` keeps sums small.

export const zero: Fraction = { numerator: 0n, denominator: 1n };

export function fractionOf(whole: number | bigint): Fraction {
  return { numerator: BigInt(whole), denominator: 1n };
}

/**
 * The denominator of a sum is at most the product of the different denominators: if one is a multiple of the other, it
 * is used for both.
 */
export function add(one: Fraction, other: Fraction): Fraction {
  if (one.denominator === other.denominator) return { numerator: one.numerator + other.numerator, denominator: one.denominator };
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

/** The same number in lowest terms. */
export function reduce({ numerator, denominator }: Fraction): Fraction {
  let [divisor, rest] = [denominator, numerator < 0n ? -numerator : numerator];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** 1 divided by the number. Throws RangeError for 0. */
export function invert({ numerator, denominator }: Fraction): Fraction {
  if (numerator === 0n) throw new RangeError('A number cannot be divided by 0.');
  return numerator < 0n ? { numerator: -denominator, denominator: -numerator } : { numerator: denominator, denominator: numerator };
}

/** Negative, 0 or positive if `one` is less than, equal to or greater than `other`. */
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

/** The greatest integer that is not above it. */
export function floor({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** The least integer that is not below it. */
export function ceil(value: Fraction): bigint {
  return -floor(negate(value));
}

const decimalsMax = 12;
const scale = 10n ** BigInt(decimalsMax);

/** A decimal string with at most 12 decimals, rounded half up; negative numbers give 0. */
export function writeDecimal({ numerator, denominator }: Fraction): string {
  if (numerator <= 0n) return '0';
  const scaled = (2n * numerator * scale + denominator) / (2n * denominator);
  const decimals = (scaled % scale).toString().padStart(decimalsMax, '0').replace(/0+$/, '');
  return `${scaled / scale}${decimals === '' ? '' : `.${decimals}`}`;
}

const numberExpression = /^([+-]?)(\d{1,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,3}))?$/;
const exponentMax = 40;

/**
 * Parses a number exactly as JSON and lenient servers write it (`15`, `1e1`, `"15"`, ` +15. `). Undefined for any other
 * text, and for more than 40 digits or powers of ten.
 */
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
