import type { UsageRank, UsageSums } from '../../../billing/usage/usage-store.ts';
import { sumColumns } from '../roll-up-columns.ts';
import type { PackedColumn } from './day-pack.ts';
import type { GroupTable } from './group-table.ts';
import type { KeptPack } from './kept-packs.ts';

/** The columns that a pack has names in. */
export type NameColumn = 'user_name' | 'token_name' | 'model_name';

/** Selects groups; a list that is absent selects all. Names are storable texts, a key has its user and its name. */
export type PackFilter = {
  readonly users?: readonly string[] | undefined;
  readonly keys?: readonly (readonly string[])[] | undefined;
  readonly models?: readonly string[] | undefined;
};

/** The groups of a question, as places, for the groups of packs. It grows with the table of groups. */
export class Grouping {
  /** The values of the columns, by place. */
  readonly keys: (readonly string[])[] = [];
  readonly #table: GroupTable;
  readonly #columns: readonly NameColumn[];
  readonly #isSelected: (names: Readonly<Record<NameColumn, string>>) => boolean;
  readonly #places = new Map<string, number>();
  /** By the number of a group of packs: the place of its group, or -1 if the filter leaves it out. */
  readonly #placeOf: number[] = [];

  constructor(table: GroupTable, columns: readonly NameColumn[], { users, keys, models }: PackFilter) {
    this.#table = table;
    this.#columns = columns;
    const [user, model] = [users, models].map((names) => (names === undefined ? undefined : new Set(names)));
    const pairs = keys === undefined ? undefined : new Set(keys.map(joinKey));
    this.#isSelected = (names) =>
      (user?.has(names.user_name) ?? true) &&
      (model?.has(names.model_name) ?? true) &&
      (pairs?.has(joinKey([names.user_name, names.token_name])) ?? true);
  }

  /** By the number of a group of packs, for all groups that the table has at present. */
  places(): readonly number[] {
    for (let group = this.#placeOf.length; group < this.#table.size; group += 1) this.#placeOf.push(this.#findPlace(group));
    return this.#placeOf;
  }

  #findPlace(group: number): number {
    const names = this.#table.namesOf(group);
    if (!this.#isSelected(names)) return -1;
    const key = this.#columns.map((column) => names[column]);
    return this.#places.getOrInsertComputed(joinKey(key), () => this.keys.push(key) - 1);
  }
}

/** A key as one text: NUL is in no name. */
export const joinKey = (key: readonly (string | number)[]): string => key.join('\0');

const word = 2 ** 32;
/** A low sum below this is exact, with one more word. */
const lowMax = 2 ** 52;

/** Exact sums of 64-bit integers: two doubles each, low and high, of which neither is ever rounded. */
type Sums = Float64Array<ArrayBuffer>;

function addColumn(sums: Sums, at: Int32Array, offset: number, { low, high }: PackedColumn): void {
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

function readExact(sums: Sums, at: number): bigint {
  return BigInt(sums[at + 1] ?? 0) * BigInt(word) + BigInt(sums[at] ?? 0);
}

function readNumber(sums: Sums, at: number): number {
  return sums[at + 1] === 0 && (sums[at] ?? 0) <= Number.MAX_SAFE_INTEGER ? (sums[at] ?? 0) : Number(readExact(sums, at));
}

const cellWords = sumColumns.length * 2;

/** Adds up packs by bucket, for some groups of a question. */
export class PackSums {
  readonly #grouping: Grouping;
  readonly #cellOfKey: (key: readonly string[]) => number | undefined;
  readonly #buckets: number;
  readonly #sums: Sums;
  readonly #hasRows: Uint8Array;
  /** By the place of a group of the question. */
  readonly #cells: number[] = [];

  /**
   * @param cellOfKey which of the sums a group counts for; undefined for none
   * @param size the number of sums in each bucket
   */
  constructor(
    grouping: Grouping,
    cellOfKey: (key: readonly string[]) => number | undefined,
    { size, buckets }: { readonly size: number; readonly buckets: number },
  ) {
    this.#grouping = grouping;
    this.#cellOfKey = cellOfKey;
    this.#buckets = buckets;
    this.#sums = new Float64Array(size * buckets * cellWords);
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
      at[row] = cell < 0 ? -1 : inBucket * cellWords;
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
      const number = (index: number): number => readNumber(this.#sums, inBucket * cellWords + index * 2);
      found.set(position, {
        amountNanoUsd: readExact(this.#sums, inBucket * cellWords + place.amount * 2),
        calls: number(place.calls),
        tokensIn: number(place.tokensIn),
        tokensOut: number(place.tokensOut),
        cacheRead: number(place.cacheRead),
        cacheWrite: number(place.cacheWrite),
        useTimeMs: number(place.useTime),
      });
    }
    return found;
  }
}

const columnOf = (name: (typeof sumColumns)[number]): number => sumColumns.indexOf(name);

/** The columns of the sums, in a pack. */
const place = {
  tokensIn: columnOf('prompt_tokens'),
  tokensOut: columnOf('completion_tokens'),
  cacheRead: columnOf('cache_tokens'),
  cacheWrite: columnOf('cache_creation_tokens'),
  useTime: columnOf('use_time_ms'),
  calls: columnOf('call_count'),
  amount: columnOf('amount_nano_usd'),
};

/** Adds up the sum that ranks groups, over all buckets. */
export class PackRanks {
  readonly #grouping: Grouping;
  readonly #column: number;
  #sums: Sums = new Float64Array(2048);

  /** @param rankBy a sum that packs have */
  constructor(grouping: Grouping, rankBy: Exclude<UsageRank, 'failed'>) {
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
    }
    const at = Int32Array.from(groups, (group) => (places[group] ?? -1) * 2);
    const column = sums[this.#column];
    if (column !== undefined) addColumn(this.#sums, at, 0, column);
  }

  /** The sums by group of the question, also those of groups without rows in the packs. */
  read(): readonly { readonly key: readonly string[]; readonly sum: bigint }[] {
    return this.#grouping.keys.map((key, index) => ({ key, sum: readExact(this.#sums, index * 2) }));
  }
}
