const NANO_PER_USD = 1_000_000_000;
const NANO_PER_USD_BIGINT = 1_000_000_000n;

/**
 * Nano-USD as a decimal number of USD: exact, without an exponent and without trailing zeros. `1_230_000n` gives
 * `0.00123`.
 */
export function usdDecimal(amountNanoUsd: bigint): string {
  const sign = amountNanoUsd < 0n ? '-' : '';
  const magnitude = amountNanoUsd < 0n ? -amountNanoUsd : amountNanoUsd;
  if (magnitude <= Number.MAX_SAFE_INTEGER) {
    // Answers have up to a million amounts; arithmetic on small integers is also exact, and several times faster.
    const small = Number(magnitude);
    return sign + joinDecimal(String(Math.floor(small / NANO_PER_USD)), small % NANO_PER_USD);
  }
  return sign + joinDecimal(String(magnitude / NANO_PER_USD_BIGINT), Number(magnitude % NANO_PER_USD_BIGINT));
}

function joinDecimal(whole: string, nanos: number): string {
  if (nanos === 0) return whole;
  let [digits, decimals] = [nanos, 9];
  while (digits % 10 === 0) {
    digits /= 10;
    decimals -= 1;
  }
  return `${whole}.${String(digits).padStart(decimals, '0')}`;
}
