import { StoreError } from '../../store-error.ts';
import { sumColumns } from '../roll-up-columns.ts';
import type { SqlParameter, ValueRow } from '../sql-values.ts';

/**
 * Integers of 64 bits by row: `value = high × 2^32 + low`. `high` is absent if it is zero in every row, as it nearly
 * always is.
 */
export type PackedColumn = { readonly low: Uint32Array; readonly high: Int32Array | undefined };

/** The value of a column of names: a text, or the number of a name. */
export type PackName = string | number;

/** The columns of packs of one kind. */
export type PackForm = {
  /** Stands at the beginning of each pack; another version is another form. */
  readonly version: number;
  /** The columns that identify a group, by the names of their lists. */
  readonly names: Readonly<Record<string, string>>;
  readonly sums: readonly string[];
};

/** The sums of a day or an hour by group, as they are read. A name is its place in the list of its column. */
export type Pack = {
  readonly lists: readonly (readonly PackName[])[];
  /** By column of names: the place of each group's name. */
  readonly places: readonly Uint32Array[];
  readonly sums: readonly PackedColumn[];
};

/** Packs of the rows of usage_days. */
export const usageForm: PackForm = {
  version: 1,
  names: { users: 'user_name', tokens: 'token_name', models: 'model_name' },
  sums: sumColumns,
};

/** Packs of call_facts: names are numbers of fact_names. The sums begin with those of the other form. */
export const callForm: PackForm = {
  version: 2,
  names: { users: 'user_ref', keys: 'key_ref', models: 'model_ref', teams: 'team_ref', tags: 'tags_ref' },
  sums: [...sumColumns, 'ended', 'failed', 'cut'],
};

/** Version, number of rows, columns that have high words as bits, bytes of the names. */
const headerWords = 4;
const wordBytes = 4;

/**
 * Encodes rows: 40 bytes a row of usage_days instead of 130, in columns that are read where they lie. Words are
 * little-endian: header, places of names by column, columns of sums, then the lists of names as JSON.
 * @param rows names and sums in the order of the form
 */
export function encodePack(form: PackForm, rows: readonly ValueRow[]): Uint8Array<ArrayBuffer> {
  const nameColumns = Object.keys(form.names).length;
  const lists = Array.from({ length: nameColumns }, () => new Map<PackName, number>());
  const places = lists.map((list, kind) =>
    Uint32Array.from(rows, (row) => {
      const name = toName(row[kind]);
      return list.getOrInsertComputed(name, () => list.size);
    }),
  );
  const columns: (Uint32Array | Int32Array)[] = [...places];
  let highs = 0;
  for (const index of form.sums.keys()) {
    const words = new Int32Array(BigInt64Array.from(rows, (row) => toBigInt(row[nameColumns + index])).buffer);
    columns.push(Uint32Array.from(rows, (_, at) => words[at * 2] ?? 0));
    const high = Int32Array.from(rows, (_, at) => words[at * 2 + 1] ?? 0);
    if (high.every((word) => word === 0)) continue;
    highs |= 1 << index;
    columns.push(high);
  }
  const named = Object.keys(form.names).map((name, column) => [name, [...(lists[column]?.keys() ?? [])]]);
  const names = Buffer.from(JSON.stringify(Object.fromEntries(named)));
  const bytes = new Uint8Array((headerWords + columns.length * rows.length) * wordBytes + names.length);
  new Uint32Array(bytes.buffer, 0, headerWords).set([form.version, rows.length, highs, names.length]);
  let at = headerWords * wordBytes;
  for (const column of columns) {
    bytes.set(new Uint8Array(column.buffer), at);
    at += column.byteLength;
  }
  bytes.set(names, at);
  return bytes;
}

function toName(value: SqlParameter | undefined): PackName {
  return typeof value === 'number' ? value : String(value);
}

/** An integer in the form of any engine. */
export function toBigInt(value: SqlParameter | undefined): bigint {
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string') return BigInt(value);
  throw new StoreError('corrupt', 'A sum of a day is not an integer.');
}

/**
 * Reads a pack without copying its columns. Throws StoreError `corrupt` for other bytes, also those of another form.
 * @param bytes have a buffer of their own
 */
export function decodePack(form: PackForm, bytes: Uint8Array<ArrayBuffer>): Pack {
  // Words can be read in place only where they begin at a whole word.
  const { buffer } = bytes.byteOffset % wordBytes === 0 ? bytes : bytes.slice();
  const start = bytes.byteOffset % wordBytes === 0 ? bytes.byteOffset : 0;
  const [version, rows = 0, highs = 0, nameBytes = 0] =
    bytes.length < headerWords * wordBytes ? [] : new Uint32Array(buffer, start, headerWords);
  const names = Object.keys(form.names);
  const columns = names.length + form.sums.length + countBits(highs);
  if (version !== form.version || bytes.length !== (headerWords + columns * rows) * wordBytes + nameBytes) {
    throw new StoreError('corrupt', 'Packed sums are not in the form of this program.');
  }
  let at = start + headerWords * wordBytes;
  const place = (): number => {
    const before = at;
    at += rows * wordBytes;
    return before;
  };
  const readLow = (): Uint32Array => new Uint32Array(buffer, place(), rows);
  const places = names.map(readLow);
  const sums = form.sums.map((_, index) => ({
    low: readLow(),
    high: (highs & (1 << index)) === 0 ? undefined : new Int32Array(buffer, place(), rows),
  }));
  const lists = readNames(new Uint8Array(buffer, at, nameBytes));
  return { lists: names.map((name) => lists[name] ?? []), places, sums };
}

function readNames(bytes: Uint8Array): Readonly<Record<string, readonly PackName[]>> {
  // The program wrote it itself, in the transaction of the pack.
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as Record<string, readonly PackName[]>;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
