import type { SqlRow } from './sql-values.ts';
import { readBigInt } from './read-column.ts';

/**
 * Sums over the lifetime of an account have two columns: `<name>_kusd`, whole thousands of USD, and `<name>_nano`, the
 * rest in nano-USD, which is never negative. No price, however wrong, makes them exceed 64 bits, so usage can always be
 * booked.
 */
export const nanoUsdPerKusd = 1_000_000_000_000n;

/** An amount in nano-USD as the two columns have it. */
export function toWide(amount: bigint): readonly [kusd: bigint, nano: bigint] {
  if (amount >= 0n && amount < nanoUsdPerKusd) return [0n, amount];
  const rest = amount % nanoUsdPerKusd;
  const nano = rest < 0n ? rest + nanoUsdPerKusd : rest;
  return [(amount - nano) / nanoUsdPerKusd, nano];
}

/** Reads an amount from its two columns, or from sums of them. */
export function readWide(row: SqlRow, name: string): bigint {
  return readBigInt(row, `${name}_kusd`) * nanoUsdPerKusd + readBigInt(row, `${name}_nano`);
}

/** The assignments of an upsert that add an amount to that of a table. */
export function addWide(table: string, name: string): string {
  const sum = `(${table}.${name}_nano + excluded.${name}_nano)`;
  return `${name}_kusd = ${table}.${name}_kusd + excluded.${name}_kusd + ${sum} / ${nanoUsdPerKusd}, ${name}_nano = ${sum} % ${nanoUsdPerKusd}`;
}

/** The sum of an amount over rows, as two columns. */
export function sumWide(name: string, as: string): string {
  return `coalesce(sum(${name}_kusd), 0) as ${as}_kusd, coalesce(sum(${name}_nano), 0) as ${as}_nano`;
}

/** The sum of a column of nano-USD over rows, as the two columns of a wide amount. */
export function sumNarrow(column: string, as: string): string {
  return `coalesce(sum(${column} / ${nanoUsdPerKusd}), 0) as ${as}_kusd, coalesce(sum(${column} % ${nanoUsdPerKusd}), 0) as ${as}_nano`;
}
