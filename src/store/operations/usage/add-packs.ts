import type { UsageRank, UsageSums } from '../../../billing/usage/usage-store.ts';
import type { GroupTable } from './group-table.ts';
import type { KeptPack } from './kept-packs.ts';
import { callForm, type PackedColumn, type PackForm, type PackName } from './pack.ts';

/** The values of the columns that a question groups by. */
export type GroupKey = readonly PackName[];

/** The groups of a question, as places, for the groups of packs. It grows with the table of groups. */
export class Grouping {
  /** The values of the columns, by place. */
  readonly keys: GroupKey[] = [];
  readonly #table: GroupTable;
  readonly #keyOf: (group: number) => GroupKey | undefined;
  readonly #places = new Map<string, number>();
  /** By the number of a group of packs: the place of its group, or -1 if the filter leaves it out. */
  readonly #placeOf: number[] = [];

  /** @param keyOf the group of the question that a group of the table counts for; undefined for none */
  constructor(table: GroupTable, keyOf: (group: number) => GroupKey | undefined) {
    this.#table = table;
    this.#keyOf = keyOf;
  }

  /** By the number of a group of packs, for all groups that the table has at present. */
  places(): readonly number[] {
    for (let group = this.#placeOf.length; group < this.#table.size; group += 1) this.#placeOf.push(this.#findPlace(group));
    return this.#placeOf;
  }

  #findPlace(group: number): number {
    const key = this.#keyOf(group);
    return key === undefined ? -1 : this.#places.getOrInsertComputed(joinKey(key), () => this.keys.push(key) - 1);
  }
}

/** A key as one text: NUL is in no name. */
export const joinKey = (key: GroupKey): string => key.join('\0');
export const splitKey = (joined: string): readonly string[] => joined.split('\0');

const word = 2 ** 32;
/** A low sum below this is exact, with one more word. */
const lowMax = 2 ** 52;

/** Exact sums of 64-bit integers: two doubles each, low and high, of which neither is ever rounded. */
export type PairSums = Float64Array<ArrayBuffer>;

export function addColumn(sums: PairSums, at: Int32Array, offset: number, { low, high }: PackedColumn): void {
  for (let row = 0; row < low.length; row += 1) {
    const place = at[row] ?? -1;
    if (place < 0) continue;
    const target = place + offset;
    let sum = (sums[target] ?? 0) + (low[row] ?? 0);
    if (sum >= lowMax) {
      sum -= lowMax;
      sums[target + 1] = (sums[target + 1] ?? 0) + lowMax / word;
    }
    sums[target] = sum;
  }
  if (high === undefined) return;
  for (let row = 0; row < high.length; row += 1) {
    const place = at[row] ?? -1;
    if (place >= 0) sums[place + offset + 1] = (sums[place + offset + 1] ?? 0) + (high[row] ?? 0);
  }
}

export function readExact(sums: PairSums, at: number): bigint {
  return BigInt(sums[at + 1] ?? 0) * BigInt(word) + BigInt(sums[at] ?? 0);
}

function readNumber(sums: PairSums, at: number): number {
  return sums[at + 1] === 0 && (sums[at] ?? 0) <= Number.MAX_SAFE_INTEGER ? (sums[at] ?? 0) : Number(readExact(sums, at));
}

/** Adds up packs by bucket, for some groups of a question. */
export class PackSums {
  readonly #grouping: Grouping;
  readonly #cellOfKey: (key: GroupKey) => number | undefined;
  readonly #buckets: number;
  readonly #hasEnds: boolean;
  readonly #cellWords: number;
  readonly #sums: PairSums;
  readonly #hasRows: Uint8Array;
  /** By the place of a group of the question. */
  readonly #cells: number[] = [];

  /**
   * @param cellOfKey which of the sums a group counts for; undefined for none
   * @param size the number of sums in each bucket
   */
  constructor(
    { sums }: PackForm,
    grouping: Grouping,
    cellOfKey: (key: GroupKey) => number | undefined,
    { size, buckets }: { readonly size: number; readonly buckets: number },
  ) {
    this.#cellWords = sums.length * 2;
    this.#hasEnds = sums.length > place.ended;
    this.#grouping = grouping;
    this.#cellOfKey = cellOfKey;
    this.#buckets = buckets;
    this.#sums = new Float64Array(size * buckets * this.#cellWords);
    this.#hasRows = new Uint8Array(size * buckets);
  }

  /** @param position of the bucket */
  add(position: number, { groups, sums }: KeptPack): void {
    const places = this.#grouping.places();
    const { keys } = this.#grouping;
    const cells = this.#cells;
    for (let place = cells.length; place < keys.length; place += 1) cells.push(this.#cellOfKey(keys[place] ?? []) ?? -1);
    const at = new Int32Array(groups.length);
    for (let row = 0; row < groups.length; row += 1) {
      const place = places[groups[row] ?? 0] ?? -1;
      const cell = place < 0 ? -1 : (cells[place] ?? -1);
      const inBucket = cell * this.#buckets + position;
      at[row] = cell < 0 ? -1 : inBucket * this.#cellWords;
      if (cell >= 0) this.#hasRows[inBucket] = 1;
    }
    for (const [index, column] of sums.entries()) addColumn(this.#sums, at, index * 2, column);
  }

  /** The sums of a group by the position of the bucket; buckets without rows are absent. */
  read(cell: number): Map<number, UsageSums> {
    const found = new Map<number, UsageSums>();
    for (let position = 0; position < this.#buckets; position += 1) {
      const inBucket = cell * this.#buckets + position;
      if (this.#hasRows[inBucket] === 0) continue;
      const number = (index: number): number => readNumber(this.#sums, inBucket * this.#cellWords + index * 2);
      found.set(position, {
        amountNanoUsd: readExact(this.#sums, inBucket * this.#cellWords + place.amount * 2),
        calls: number(place.calls),
        tokensIn: number(place.tokensIn),
        tokensOut: number(place.tokensOut),
        cacheRead: number(place.cacheRead),
        cacheWrite: number(place.cacheWrite),
        useTimeMs: number(place.useTime),
        ...(this.#hasEnds && { ended: number(place.ended), failed: number(place.failed), cut: number(place.cut) }),
      });
    }
    return found;
  }
}

const columnOf = (name: string): number => callForm.sums.indexOf(name);

/** The columns of the sums in a pack of any form. The last three are only in packs of calls. */
const place = {
  tokensIn: columnOf('prompt_tokens'),
  tokensOut: columnOf('completion_tokens'),
  cacheRead: columnOf('cache_tokens'),
  cacheWrite: columnOf('cache_creation_tokens'),
  useTime: columnOf('use_time_ms'),
  calls: columnOf('call_count'),
  amount: columnOf('amount_nano_usd'),
  ended: columnOf('ended'),
  failed: columnOf('failed'),
  cut: columnOf('cut'),
};

/** Adds up the sum that ranks groups, over all buckets. */
export class PackRanks {
  readonly #grouping: Grouping;
  readonly #column: number;
  #sums: PairSums = new Float64Array(2048);
  /** Whether the packs have a group, by its place. */
  #isFound = new Uint8Array(1024);

  /** @param rankBy a sum that the packs have */
  constructor(grouping: Grouping, rankBy: UsageRank) {
    this.#grouping = grouping;
    this.#column = place[rankBy];
  }

  add({ groups, sums }: KeptPack): void {
    const places = this.#grouping.places();
    const { length } = this.#grouping.keys;
    if (length * 2 > this.#sums.length) {
      const larger = new Float64Array(length * 4);
      larger.set(this.#sums);
      this.#sums = larger;
      const more = new Uint8Array(length * 2);
      more.set(this.#isFound);
      this.#isFound = more;
    }
    const at = Int32Array.from(groups, (group) => (places[group] ?? -1) * 2);
    for (let row = 0; row < at.length; row += 1) if ((at[row] ?? -1) >= 0) this.#isFound[(at[row] ?? 0) / 2] = 1;
    const column = sums[this.#column];
    if (column !== undefined) addColumn(this.#sums, at, 0, column);
  }

  /** The sums by group of the question, of groups that the packs have. */
  read(): readonly { readonly key: GroupKey; readonly sum: bigint }[] {
    return this.#grouping.keys.flatMap((key, place) =>
      this.#isFound[place] === 1 ? [{ key, sum: readExact(this.#sums, place * 2) }] : [],
    );
  }
}
