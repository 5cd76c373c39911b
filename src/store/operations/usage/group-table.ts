import type { DayPack } from './day-pack.ts';

/** Names with small numbers, in the order in which they were first seen. */
class NameList {
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}

/** 2^21: three numbers below it, two of them joined first, fit into a double. */
const numbersMax = 2 ** 21;

/**
 * All groups (user, key and model) of the packs that are kept, each with a number, so that packs of different days are
 * added up by numbers alone.
 */
export class GroupTable {
  readonly #users = new NameList();
  readonly #tokens = new NameList();
  readonly #models = new NameList();
  /** By the number of the group. */
  readonly #userOf: number[] = [];
  readonly #tokenOf: number[] = [];
  readonly #modelOf: number[] = [];
  readonly #pairs = new Map<number, number>();
  readonly #groups = new Map<number, number>();

  get size(): number {
    return this.#userOf.length;
  }

  /** There is no room for many more. */
  get isFull(): boolean {
    return this.size > numbersMax / 2;
  }

  namesOf(group: number): Readonly<Record<'user_name' | 'token_name' | 'model_name', string>> {
    return {
      user_name: this.#users.names[this.#userOf[group] ?? 0] ?? '',
      token_name: this.#tokens.names[this.#tokenOf[group] ?? 0] ?? '',
      model_name: this.#models.names[this.#modelOf[group] ?? 0] ?? '',
    };
  }

  /** The numbers of the groups of a pack, row by row. */
  numbersOf({ names, users, tokens, models }: DayPack): Uint32Array {
    const user = names.users.map((name) => this.#users.numberOf(name));
    const token = names.tokens.map((name) => this.#tokens.numberOf(name));
    const model = names.models.map((name) => this.#models.numberOf(name));
    return users.map((place, row) => this.#numberOf(user[place] ?? 0, token[tokens[row] ?? 0] ?? 0, model[models[row] ?? 0] ?? 0));
  }

  #numberOf(user: number, token: number, model: number): number {
    const pair = this.#pairs.getOrInsertComputed(user * numbersMax + token, () => this.#pairs.size);
    const key = pair * numbersMax + model;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    this.#groups.set(key, this.size);
    this.#userOf.push(user);
    this.#tokenOf.push(token);
    this.#modelOf.push(model);
    return this.size - 1;
  }
}
