/** The format of prices and multipliers: digits, at most 12 on either side of the point, without sign and exponent. */
export const decimalPattern = '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,12})?$';

const decimalExpression = new RegExp(decimalPattern);

/** An exact number: numerator / denominator, the denominator above zero. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

export function isDecimal(text: string): boolean {
  return decimalExpression.test(text);
}

/** Prices are few and are parsed for every call; the limit is for receipts, which may contain any. */
const parsedMax = 1000;
const parsed = new Map<string, Fraction>();

/** Parses a decimal string exactly. Throws RangeError for any text that `decimalPattern` refuses. */
export function parseDecimal(text: string): Fraction {
  const found = parsed.get(text);
  if (found !== undefined) return found;
  const fraction = readFraction(text);
  if (parsed.size < parsedMax) parsed.set(text, fraction);
  return fraction;
}

function readFraction(text: string): Fraction {
  if (!decimalExpression.test(text)) throw new RangeError(`"${text.slice(0, 32)}" is not a decimal number such as "2.5".`);
  const point = text.indexOf('.');
  if (point === -1) return { numerator: BigInt(text), denominator: 1n };
  const decimals = text.slice(point + 1);
  return { numerator: BigInt(text.slice(0, point) + decimals), denominator: 10n ** BigInt(decimals.length) };
}
