import { StoreError } from '../../store-error.ts';
import { sumColumns } from '../roll-up-columns.ts';
import type { SqlParameter, ValueRow } from '../sql-values.ts';

/**
 * Integers of 64 bits by row: `value = high × 2^32 + low`. `high` is absent if it is zero in every row, as it nearly
 * always is.
 */
export type PackedColumn = { readonly low: Uint32Array; readonly high: Int32Array | undefined };

/** The sums of a day by group, as they are read. A name is its place in the list of its kind. */
export type DayPack = {
  readonly names: { readonly users: readonly string[]; readonly tokens: readonly string[]; readonly models: readonly string[] };
  readonly users: Uint32Array;
  readonly tokens: Uint32Array;
  readonly models: Uint32Array;
  /** In the order of the columns of a roll-up. */
  readonly sums: readonly PackedColumn[];
};

const formatVersion = 1;
/** Version, number of rows, columns that have high words as bits, bytes of the names. */
const headerWords = 4;
const wordBytes = 4;
const nameColumns = 3;

/**
 * Encodes the rows of one day: 40 bytes a row instead of 130, in columns that are read where they lie. Words are
 * little-endian: header, places of users, tokens and models, columns of sums, then the lists of names as JSON.
 * @param rows user, token, model, then the sums in the order of the columns of a roll-up
 */
export function encodeDayPack(rows: readonly ValueRow[]): Uint8Array<ArrayBuffer> {
  const lists = Array.from({ length: nameColumns }, () => new Map<string, number>());
  const places = lists.map((list, kind) =>
    Uint32Array.from(rows, (row) => {
      const name = String(row[kind]);
      return list.getOrInsertComputed(name, () => list.size);
    }),
  );
  const columns: (Uint32Array | Int32Array)[] = [...places];
  let highs = 0;
  for (const index of sumColumns.keys()) {
    const words = new Int32Array(BigInt64Array.from(rows, (row) => toBigInt(row[nameColumns + index])).buffer);
    columns.push(Uint32Array.from(rows, (_, at) => words[at * 2] ?? 0));
    const high = Int32Array.from(rows, (_, at) => words[at * 2 + 1] ?? 0);
    if (high.every((word) => word === 0)) continue;
    highs |= 1 << index;
    columns.push(high);
  }
  const [users, tokens, models] = lists.map((list) => [...list.keys()]);
  const names = Buffer.from(JSON.stringify({ users, tokens, models }));
  const bytes = new Uint8Array((headerWords + columns.length * rows.length) * wordBytes + names.length);
  new Uint32Array(bytes.buffer, 0, headerWords).set([formatVersion, rows.length, highs, names.length]);
  let at = headerWords * wordBytes;
  for (const column of columns) {
    bytes.set(new Uint8Array(column.buffer), at);
    at += column.byteLength;
  }
  bytes.set(names, at);
  return bytes;
}

/** An integer in the form of any engine. */
function toBigInt(value: SqlParameter | undefined): bigint {
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string') return BigInt(value);
  throw new StoreError('corrupt', 'A sum of a day is not an integer.');
}

/**
 * Reads a pack without copying its columns. Throws StoreError `corrupt` for other bytes, also those of a later format.
 * @param bytes have a buffer of their own
 */
export function decodeDayPack(bytes: Uint8Array<ArrayBuffer>): DayPack {
  // Words can be read in place only where they begin at a whole word.
  const { buffer } = bytes.byteOffset % wordBytes === 0 ? bytes : bytes.slice();
  const start = bytes.byteOffset % wordBytes === 0 ? bytes.byteOffset : 0;
  const [version, rows = 0, highs = 0, nameBytes = 0] =
    bytes.length < headerWords * wordBytes ? [] : new Uint32Array(buffer, start, headerWords);
  const columns = nameColumns + sumColumns.length + countBits(highs);
  if (version !== formatVersion || bytes.length !== (headerWords + columns * rows) * wordBytes + nameBytes) {
    throw new StoreError('corrupt', 'The sums of a day are not in the form of this program.');
  }
  let at = start + headerWords * wordBytes;
  const place = (): number => {
    const before = at;
    at += rows * wordBytes;
    return before;
  };
  const readLow = (): Uint32Array => new Uint32Array(buffer, place(), rows);
  const [users, tokens, models] = [readLow(), readLow(), readLow()];
  const sums = sumColumns.map((_, index) => ({
    low: readLow(),
    high: (highs & (1 << index)) === 0 ? undefined : new Int32Array(buffer, place(), rows),
  }));
  return { names: readNames(new Uint8Array(buffer, at, nameBytes)), users, tokens, models, sums };
}

function readNames(bytes: Uint8Array): DayPack['names'] {
  // The program wrote it itself, in the transaction of the pack.
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as DayPack['names'];
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
