/** An integer: a number while it is exact, which is nearly always and costs a tenth of a bigint. */
export type Integer = number | bigint;

/** The exact sum of two integers. */
export function addExact(one: Integer, other: Integer): Integer {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(one) + BigInt(other);
}
