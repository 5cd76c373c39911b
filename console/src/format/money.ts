/** An amount as the admin API writes it. Nothing here passes through a floating-point number. */
export type Money = { readonly nano_usd: string; readonly usd: string };

const minus = '\u2212';
const nanosPerUsd = 1_000_000_000n;
const fractionDigits = 9;

export const nanosOf = ({ nano_usd }: Money): bigint => BigInt(nano_usd);

/** Nano-USD of an amount that was written as a decimal text with at most nine decimals. */
export function nanosOfUsd(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * nanosPerUsd + BigInt(fraction.padEnd(fractionDigits, '0'));
}

const group = (digits: string): string => digits.replaceAll(/\B(?=(\d{3})+$)/g, '\u00a0');

/**
 * An amount with exactly `digits` decimals, rounded half up on its size.
 * @param digits 0 to 9
 */
export function fixedMoney(nanos: bigint, digits: number): string {
  const size = nanos < 0n ? -nanos : nanos;
  const step = 10n ** BigInt(fractionDigits - digits);
  const rounded = (size + step / 2n) / step;
  const unit = 10n ** BigInt(digits);
  const fraction = digits === 0 ? '' : `.${(rounded % unit).toString().padStart(digits, '0')}`;
  return `${nanos < 0n && rounded > 0n ? minus : ''}$${group((rounded / unit).toString())}${fraction}`;
}

/** All decimals, for copying and for details: none of a whole amount, otherwise two or more, as `$12.50`. */
export function exactMoney(nanos: bigint): string {
  const text = fixedMoney(nanos, fractionDigits).replace(/0+$/, '');
  return text.endsWith('.') ? text.slice(0, -1) : text.replace(/\.\d$/, '$&0');
}

/** An amount or a price that was written as a decimal text, with all its decimals: `$1 250.50`. */
export function showUsd(text: string): string {
  const [whole = '', fraction] = text.split('.');
  return `$${group(whole)}${fraction === undefined ? '' : `.${fraction.padEnd(2, '0')}`}`;
}

/** The decimals with which an amount is shown alone: none for nothing, two to four, and four digits below a cent. */
function digitsFor(nanos: bigint): number {
  const size = nanos < 0n ? -nanos : nanos;
  if (size === 0n) return 0;
  if (size >= 100n * nanosPerUsd) return 2;
  if (size >= nanosPerUsd / 100n) return 4;
  // Leading zeros of the fraction, and four digits after them.
  const zeros = fractionDigits - size.toString().length;
  return Math.min(fractionDigits, zeros + 4);
}

/** An amount as a tile or a sentence shows it. */
export function showMoney(nanos: bigint): string {
  return fixedMoney(nanos, digitsFor(nanos));
}

const tileCharacters = 11;

/** Whether an amount does not fit a tile in large digits. */
export const isLongMoney = (money: Money): boolean => showMoney(nanosOf(money)).length > tileCharacters;

/** The decimals of a column, so that its smallest amount is not shown as nothing: 2 to 6. */
export function columnDigits(amounts: readonly bigint[]): number {
  const needed = amounts.map(digitsFor);
  return Math.min(6, Math.max(2, ...needed));
}

/** The fewest decimals, from two, with which no amount of a column is rounded: its lines add up on paper. */
export function exactDigits(amounts: readonly bigint[]): number {
  const isExact = (digits: number): boolean => amounts.every((nanos) => nanos % 10n ** BigInt(fractionDigits - digits) === 0n);
  return [2, 3, 4, 5, 6, 7, 8].find(isExact) ?? fractionDigits;
}

/** An amount of a column with a number of decimals. What they would show as nothing is less than their last one. */
export function columnMoney(nanos: bigint, digits: number): string {
  const size = nanos < 0n ? -nanos : nanos;
  if (nanos === 0n || size * 2n >= 10n ** BigInt(fractionDigits - digits)) return fixedMoney(nanos, digits);
  return `<${fixedMoney(10n ** BigInt(fractionDigits - digits), digits)}`;
}

/** The share of a whole from 0 to 1, by integers: exact to a millionth. */
export function shareOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 1_000_000n) / whole) / 1_000_000;
}

const timesFrom = 10n;
const timesMost = 1000n;

/**
 * A change in per cent: `+18.2 %`. From ten times as much on, where per cents say nothing any more: `×12`, or
 * `>×1000` after almost nothing. Undefined if there was nothing before.
 */
export function showChange(now: bigint, before: bigint): string | undefined {
  if (before === 0n) return undefined;
  const times = now / before;
  if (before > 0n && times >= timesFrom) return times > timesMost ? `>×${timesMost}` : `×${times}`;
  const thousandths = ((now - before) * 1000n) / (before < 0n ? -before : before);
  const size = thousandths < 0n ? -thousandths : thousandths;
  const sign = thousandths === 0n ? '±' : thousandths < 0n ? minus : '+';
  if (size > timesMost * 1000n) return `>${sign}${timesMost * 100n}\u00a0%`;
  return `${sign}${size / 10n}.${size % 10n}\u00a0%`;
}

/** A change in a table, also from nothing: `new`. */
export function showChangeOrNew(now: bigint, before: bigint): string {
  return showChange(now, before) ?? (now === 0n ? '—' : 'new');
}

const largeSteps = [
  { usd: 1_000_000_000n, sign: 'G' },
  { usd: 1_000_000n, sign: 'M' },
  { usd: 10_000n, sign: 'k' },
] as const;

/** `$150 M`: the ticks of an axis are multiples of its step. */
function shortTick(tick: bigint, { usd, sign }: (typeof largeSteps)[number]): string {
  const unit = sign === 'k' ? 1000n : usd;
  return tick === 0n ? '$0' : `${fixedMoney(tick / unit, 0)}\u202f${sign}`;
}

/** An amount in a chart: its axis has one number of decimals, as few as tell its values apart. */
export const showChartMoney = Object.assign((nanos: bigint): string => showMoney(nanos), {
  axis: (ticks: readonly bigint[]) => {
    const step = ticks[1] ?? 0n;
    const large = largeSteps.find(({ usd }) => step >= usd * nanosPerUsd);
    if (large !== undefined) return (tick: bigint): string => shortTick(tick, large);
    const digits = [0, 2, 3, 4, 5, 6, 7, 8].find((each) => step % 10n ** BigInt(fractionDigits - each) === 0n) ?? fractionDigits;
    return (tick: bigint): string => fixedMoney(tick, digits);
  },
});
