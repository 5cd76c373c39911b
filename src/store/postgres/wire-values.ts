import { types } from 'pg';
import type { SqlParameter } from '../operations/sql-values.ts';

/**
 * A parameter for the driver: text, bytes or null. A number is sent with all its digits, so that the server rounds
 * none.
 */
export function toText(parameter: SqlParameter): string | Uint8Array | null {
  if (typeof parameter === 'bigint') return parameter.toString();
  if (typeof parameter !== 'number') return parameter;
  return Number.isInteger(parameter) && !Number.isSafeInteger(parameter) ? BigInt(parameter).toString() : String(parameter);
}

/**
 * The same types as with SQLite: integers as bigint, also sums of integers, which the server returns as decimals;
 * floats as number; bytes with a buffer of their own.
 */
const parsers = new Map<number, (text: string) => SqlParameter>([
  [types.builtins.BOOL, (text) => (text === 't' ? 1n : 0n)],
  [types.builtins.INT2, BigInt],
  [types.builtins.INT4, BigInt],
  [types.builtins.INT8, BigInt],
  [types.builtins.NUMERIC, (text) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text))],
  [types.builtins.FLOAT4, Number],
  [types.builtins.FLOAT8, Number],
  // The server's form of bytes: \x and two digits for each.
  [types.builtins.BYTEA, (text) => Uint8Array.fromHex(text.slice(2))],
]);

const asText = (text: string): string => text;

/** Returns the parser of a column type for the driver. Only text format is used. */
export const getTypeParser: typeof types.getTypeParser = (oid: number) => parsers.get(oid) ?? asText;

/** Returns the texts of the server unparsed. */
export const keepText: typeof types.getTypeParser = () => asText;
