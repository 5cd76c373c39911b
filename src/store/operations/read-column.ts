import { StoreError } from '../store-error.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';

/**
 * Readers of one column. Each throws StoreError if the column has another type than in the schema: the database was
 * tampered with.
 */

export function readText(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw unexpected(column, value, 'text');
}

export function readOptionalText(row: SqlRow, column: string): string | undefined {
  return row[column] === null ? undefined : readText(row, column);
}

export function readBigInt(row: SqlRow, column: string): bigint {
  const value = row[column];
  if (typeof value === 'bigint') return value;
  throw unexpected(column, value, 'an integer');
}

/** For integers far below 2^53, or if the nearest double is exact enough. */
export function readInteger(row: SqlRow, column: string): number {
  return Number(readBigInt(row, column));
}

export function readOptionalInteger(row: SqlRow, column: string): number | undefined {
  return row[column] === null ? undefined : readInteger(row, column);
}

export function readReal(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  throw unexpected(column, value, 'a number');
}

export function readBytes(row: SqlRow, column: string): Uint8Array<ArrayBuffer> {
  const value = row[column];
  // The driver returns a buffer of its own, which is never shared.
  if (value instanceof Uint8Array) return value as Uint8Array<ArrayBuffer>;
  throw unexpected(column, value, 'bytes');
}

function unexpected(column: string, value: SqlParameter | undefined, expected: string): StoreError {
  const found = value === null ? 'null' : typeof value;
  return new StoreError('corrupt', `Column ${column} must be ${expected}; got ${found}.`);
}
