/** How prices and multipliers are written: digits, at most 12 of them on either side of the point, no sign and no exponent. */
export const decimalPattern = '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,12})?$';

const decimalExpression = new RegExp(decimalPattern);

/** An exact number: numerator / denominator, the denominator above zero. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

export function isDecimal(text: string): boolean {
  return decimalExpression.test(text);
}

/** Prices are few and are read for every call; the bound is for receipts, which may hold any. */
const knownMax = 1000;
const known = new Map<string, Fraction>();

/** Reads a decimal string exactly. Throws RangeError for anything that `decimalPattern` refuses. */
export function parseDecimal(text: string): Fraction {
  const found = known.get(text);
  if (found !== undefined) return found;
  const fraction = readFraction(text);
  if (known.size < knownMax) known.set(text, fraction);
  return fraction;
}

function readFraction(text: string): Fraction {
  if (!decimalExpression.test(text)) throw new RangeError(`"${text.slice(0, 32)}" is not a decimal number such as "2.5".`);
  const point = text.indexOf('.');
  if (point === -1) return { numerator: BigInt(text), denominator: 1n };
  const decimals = text.slice(point + 1);
  return { numerator: BigInt(text.slice(0, point) + decimals), denominator: 10n ** BigInt(decimals.length) };
}
