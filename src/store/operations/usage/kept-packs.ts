import type { Database } from '../database.ts';
import { readBytes, readInteger } from '../read-column.ts';
import { decodeDayPack, type PackedColumn } from './day-pack.ts';
import { GroupTable } from './group-table.ts';

/** The sums of a day by the numbers of its groups. */
export type KeptPack = { readonly groups: Uint32Array; readonly sums: readonly PackedColumn[] };

/** A day, by the minute since 1970 at which it begins, and the number of its pack. */
export type PackOfDay = { readonly day: number; readonly number: number };

/** Packs are fetched this many at a time. */
const packsAtOnce = 32;
/** Memory of packs that are kept: two years of 1,000 groups a day. */
const bytesKeptMax = 64 * 1024 * 1024;

/** Packs that stay in memory, and the numbers of their groups. */
class Kept {
  readonly table = new GroupTable();
  readonly #packs = new Map<number, KeptPack>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  find(number: number): KeptPack | undefined {
    const pack = this.#packs.get(number);
    if (pack === undefined) return undefined;
    // The last one used is the last one to go.
    this.#packs.delete(number);
    this.#packs.set(number, pack);
    return pack;
  }

  keep(number: number, bytes: Uint8Array<ArrayBuffer>): KeptPack {
    const known = this.find(number);
    if (known !== undefined) return known;
    const decoded = decodeDayPack(bytes);
    const pack = { groups: this.table.numbersOf(decoded), sums: decoded.sums };
    this.#packs.set(number, pack);
    this.#bytes += sizeOf(pack);
    for (const [oldest, old] of this.#packs) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#packs.delete(oldest);
      this.#bytes -= sizeOf(old);
    }
    return pack;
  }
}

function sizeOf({ groups, sums }: KeptPack): number {
  // The sums are views of the bytes that were read.
  return groups.byteLength + (sums[0]?.low.buffer.byteLength ?? 0);
}

/**
 * The packs that were read last, for the questions that follow. A pack is found by its number and never changes, so
 * nothing need be compared with the database but the list of numbers.
 */
export class KeptPacks {
  readonly #bytesMax: number;
  #kept: Kept;

  /** @param bytesMax of packs between questions */
  constructor(bytesMax = bytesKeptMax) {
    this.#bytesMax = bytesMax;
    this.#kept = new Kept(bytesMax);
  }

  /** The present packs of the days that begin in `[from, until)`, in minutes since 1970. */
  async list(database: Database, from: number, until: number): Promise<PackList> {
    if (this.#kept.table.isFull) this.#kept = new Kept(this.#bytesMax);
    const kept = this.#kept;
    const sql = 'select day, number from usage_packs where day >= ? and day < ? and number > 0 order by day';
    const days = (await database.all(sql, from, until)).map((row) => ({
      day: readInteger(row, 'day'),
      number: readInteger(row, 'number'),
    }));
    return { days, table: kept.table, read: (part) => readPacks(database, kept, part) };
  }
}

/** The packs of some days, in one snapshot. */
export type PackList = {
  /** In ascending order. */
  readonly days: readonly PackOfDay[];
  /** The groups of all packs that `read` has given. */
  readonly table: GroupTable;
  /** Reads some of them, each once, in any order. */
  readonly read: (part: readonly PackOfDay[]) => AsyncIterable<readonly [PackOfDay, KeptPack]>;
};

async function* readPacks(database: Database, kept: Kept, part: readonly PackOfDay[]): AsyncGenerator<readonly [PackOfDay, KeptPack]> {
  const missing: PackOfDay[] = [];
  for (const one of part) {
    const pack = kept.find(one.number);
    if (pack === undefined) missing.push(one);
    else yield [one, pack];
  }
  for (let at = 0; at < missing.length; at += packsAtOnce) {
    const wanted = new Map(missing.slice(at, at + packsAtOnce).map((one) => [one.number, one]));
    const [first, last] = [missing[at], missing[Math.min(at + packsAtOnce, missing.length) - 1]];
    const sql = 'select number, sums from usage_packs where day >= ? and day <= ? and number > 0';
    for (const row of await database.all(sql, first?.day ?? 0, last?.day ?? 0)) {
      const one = wanted.get(readInteger(row, 'number'));
      if (one !== undefined) yield [one, kept.keep(one.number, readBytes(row, 'sums'))];
    }
  }
}
