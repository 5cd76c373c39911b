import type { Pack, PackForm, PackName } from './pack.ts';

/** Names with small numbers, in the order in which they were first seen. */
class NameList {
  readonly names: PackName[] = [];
  readonly #numbers = new Map<PackName, number>();

  numberOf(name: PackName): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}

/** 2^21: two numbers below it fit into a double together. */
const numbersMax = 2 ** 21;

/**
 * All groups of the packs that are kept, each with a number, so that packs of different days are added up by numbers
 * alone.
 */
export class GroupTable {
  readonly #lists: readonly NameList[];
  /** By column, then by the number of the group: the number of its name. */
  readonly #namesOf: readonly number[][];
  /** By column after the first: a number for the names up to it, by the number before and that of its own name. */
  readonly #joined: readonly Map<number, number>[];

  constructor({ names }: PackForm) {
    const columns = Object.keys(names);
    this.#lists = columns.map(() => new NameList());
    this.#namesOf = columns.map(() => []);
    this.#joined = columns.map(() => new Map<number, number>());
  }

  get size(): number {
    return this.#namesOf[0]?.length ?? 0;
  }

  /** There is no room for many more. */
  get isFull(): boolean {
    return this.size > numbersMax / 2;
  }

  /** The name of a group in a column, by its place in the form. */
  nameOf(group: number, column: number): PackName {
    return this.#lists[column]?.names[this.#namesOf[column]?.[group] ?? 0] ?? '';
  }

  /** The numbers of the groups of a pack, row by row. */
  numbersOf({ lists, places }: Pick<Pack, 'lists' | 'places'>): Uint32Array {
    const own = lists.map((names, column) => names.map((name) => this.#lists[column]?.numberOf(name) ?? 0));
    const groups = new Uint32Array(places[0]?.length ?? 0);
    for (let row = 0; row < groups.length; row += 1) groups[row] = this.#numberOf(own, places, row);
    return groups;
  }

  #numberOf(own: readonly (readonly number[])[], places: readonly Uint32Array[], row: number): number {
    const nameAt = (column: number): number => own[column]?.[places[column]?.[row] ?? 0] ?? 0;
    let joined = nameAt(0);
    for (let column = 1; column < places.length; column += 1) {
      const known = this.#joined[column];
      if (known === undefined) continue;
      const key = joined * numbersMax + nameAt(column);
      joined = known.get(key) ?? known.size;
      if (joined === known.size) known.set(key, joined);
    }
    // The names up to the last column are the group.
    if (joined === this.size) for (const [column, numbers] of this.#namesOf.entries()) numbers.push(nameAt(column));
    return joined;
  }
}
