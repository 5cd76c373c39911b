import type { Database } from '../database.ts';
import type { SqlRow } from '../sql-values.ts';
import { readBytes, readInteger } from '../read-column.ts';
import { decodePack, type PackedColumn, type PackForm } from './pack.ts';
import { GroupTable } from './group-table.ts';

/** The sums of a day or an hour by the numbers of its groups. */
export type KeptPack = { readonly groups: Uint32Array; readonly sums: readonly PackedColumn[] };

/** Packs that a database has, by their numbers. */
export type PackSource = {
  readonly form: PackForm;
  /** Reads rows of `number` and `sums`: at least those of the numbers. */
  readonly load: (database: Database, wanted: readonly NumberedPack[]) => Promise<readonly SqlRow[]>;
};

/** The minute since 1970 at which a day or an hour begins, and the number of its pack. */
export type NumberedPack = { readonly from: number; readonly number: number };

/** Packs are fetched this many at a time. */
export const packsAtOnce = 32;
/** Memory of packs that are kept: two years of 1,000 groups a day. */
const bytesKeptMax = 64 * 1024 * 1024;

/** Packs that stay in memory, and the numbers of their groups. */
class Kept {
  readonly table: GroupTable;
  readonly #packs = new Map<number, KeptPack>();
  readonly #form: PackForm;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(form: PackForm, bytesMax: number) {
    this.table = new GroupTable(form);
    this.#form = form;
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
    const decoded = decodePack(this.#form, bytes);
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
  readonly #source: PackSource;
  readonly #bytesMax: number;
  #kept: Kept;

  /** @param bytesMax of packs between questions */
  constructor(source: PackSource, bytesMax = bytesKeptMax) {
    this.#source = source;
    this.#bytesMax = bytesMax;
    this.#kept = new Kept(source.form, bytesMax);
  }

  /** Begins to read packs in one snapshot. */
  begin(database: Database): PackReading {
    if (this.#kept.table.isFull) this.#kept = new Kept(this.#source.form, this.#bytesMax);
    const [source, kept] = [this.#source, this.#kept];
    return { form: source.form, table: kept.table, read: (packs) => readPacks(database, source, kept, packs) };
  }
}

/** The packs of a question, in one snapshot. */
export type PackReading = {
  readonly form: PackForm;
  /** The groups of all packs that `read` has given. */
  readonly table: GroupTable;
  /** Reads some packs, each once, in any order. */
  readonly read: (packs: readonly NumberedPack[]) => AsyncIterable<readonly [number: number, pack: KeptPack]>;
};

async function* readPacks(
  database: Database,
  { load }: PackSource,
  kept: Kept,
  packs: readonly NumberedPack[],
): AsyncGenerator<readonly [number: number, pack: KeptPack]> {
  const missing: NumberedPack[] = [];
  for (const one of packs) {
    const pack = kept.find(one.number);
    if (pack === undefined) missing.push(one);
    else yield [one.number, pack];
  }
  for (let at = 0; at < missing.length; at += packsAtOnce) {
    const part = missing.slice(at, at + packsAtOnce);
    const wanted = new Set(part.map(({ number }) => number));
    for (const row of await load(database, part)) {
      const number = readInteger(row, 'number');
      if (wanted.has(number)) yield [number, kept.keep(number, readBytes(row, 'sums'))];
    }
  }
}
