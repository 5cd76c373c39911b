import type { JsonIndex } from './json-index.ts';

/**
 * Finds which of some fixed names a key or a string of an index is, in a few nanoseconds and without decoding it.
 */
export class NameTable {
  readonly names: readonly string[];
  readonly #longest: number;
  readonly #numbers: ReadonlyMap<string, number>;
  /** Numbers of names plus one, at the slots of their hashes; zero where there is none. */
  readonly #slots: Int32Array;
  /** The bytes of all names that are ASCII, one after the other, and where each begins. */
  readonly #letters: Buffer;
  readonly #starts: Int32Array;

  /** @param names each once; `find` returns a name's position in this list */
  constructor(names: readonly string[]) {
    this.names = names;
    this.#longest = names.reduce((longest, { length }) => Math.max(longest, length), 0);
    this.#numbers = new Map(names.map((name, number) => [name, number]));
    this.#letters = Buffer.from(names.join(''), 'latin1');
    this.#starts = new Int32Array(names.length + 1);
    let slots = 4;
    while (slots < names.length * 4) slots *= 2;
    this.#slots = new Int32Array(slots);
    for (const [number, name] of names.entries()) {
      this.#starts[number + 1] = (this.#starts[number] ?? 0) + name.length;
      let slot = hash(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1)) & (slots - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (slots - 1);
      this.#slots[slot] = number + 1;
    }
  }

  /** The number of the name that a key or string is; -1 if it is none of them. */
  find(index: JsonIndex, node: number): number {
    const size = index.size(node);
    if (size > this.#longest) return -1;
    if (size === 0 || index.hasEscapes(node) || !index.isAscii(node)) return this.#numbers.get(index.text(node) ?? '') ?? -1;
    const { bytes } = index;
    const slots = this.#slots;
    const from = index.start(node) + 1;
    const length = index.end(node) - 1 - from;
    let slot = hash(length, bytes[from] ?? 0, bytes[from + length - 1] ?? 0) & (slots.length - 1);
    for (;;) {
      const number = (slots[slot] ?? 0) - 1;
      if (number === -1 || this.#isAt(number, bytes, from, length)) return number;
      slot = (slot + 1) & (slots.length - 1);
    }
  }

  #isAt(number: number, bytes: Buffer, from: number, length: number): boolean {
    const letters = this.#letters;
    const start = this.#starts[number] ?? 0;
    if ((this.#starts[number + 1] ?? 0) - start !== length) return false;
    for (let at = 0; at < length; at++) if (bytes[from + at] !== letters[start + at]) return false;
    return true;
  }
}

/** Names of one interface rarely agree in length, first and last letter. */
function hash(length: number, first: number, last: number): number {
  return (Math.imul(length, 0x9e3b) ^ Math.imul(first, 0x1f35) ^ Math.imul(last, 0x6b)) >>> 3;
}
