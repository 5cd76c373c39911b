import { limitNanoUsd } from './pots.ts';

/**
 * Parses an amount in USD, such as `25`, `0.5` or `-3.25`, as nano-USD. Undefined for any other text: an exponent, more
 * than nine places, a billion or more.
 */
export function parseUsd(text: string): bigint | undefined {
  const [, sign, digits] = /^(-?)((?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const amount = limitNanoUsd(digits);
  return sign === '-' ? -amount : amount;
}
