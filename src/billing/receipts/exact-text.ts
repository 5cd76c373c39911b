import type { Fraction } from '../rating/decimal.ts';
import { reduce } from '../rating/fraction.ts';

const nanoUsdPerUsd = 1_000_000_000n;

/** An amount as a decimal string in USD, exact and without trailing zeros. */
export function formatUsd(nanoUsd: bigint): string {
  const sign = nanoUsd < 0n ? '-' : '';
  const digits = nanoUsd < 0n ? -nanoUsd : nanoUsd;
  const decimals = (digits % nanoUsdPerUsd).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${digits / nanoUsdPerUsd}${decimals === '' ? '' : `.${decimals}`}`;
}

/** An amount as receipts write it. */
export function formatMoney(nanoUsd: bigint): { readonly nano_usd: string; readonly usd: string } {
  return { nano_usd: nanoUsd.toString(), usd: formatUsd(nanoUsd) };
}

/**
 * An exact number: a decimal if there is one, otherwise a fraction in lowest terms. Equal numbers have equal texts.
 */
export function formatExact({ numerator, denominator }: Fraction): string {
  if (numerator < 0n) return `-${formatExact({ numerator: -numerator, denominator })}`;
  const { numerator: top, denominator: bottom } = reduce({ numerator, denominator });
  const places = decimalPlaces(bottom);
  if (places === undefined) return `${top}/${bottom}`;
  const digits = ((top * 10n ** BigInt(places)) / bottom).toString().padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** The number of decimals of a fraction in lowest terms; undefined if it has no end. */
function decimalPlaces(denominator: bigint): number | undefined {
  const [twos, withoutTwos] = countFactor(denominator, 2n);
  const [fives, rest] = countFactor(withoutTwos, 5n);
  return rest === 1n ? Math.max(twos, fives) : undefined;
}

function countFactor(value: bigint, factor: bigint): [times: number, rest: bigint] {
  let [times, rest] = [0, value];
  for (; rest % factor === 0n; rest /= factor) times += 1;
  return [times, rest];
}
