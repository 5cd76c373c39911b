import { KeyTable } from './key-table.ts';

// Objects with up to this many keys are compared pairwise, which is faster than any table.
const LISTED_KEYS_MAX = 16;

/**
 * The keys until now of each open object, innermost last, to find duplicates. Linear in the bytes of all keys, also for
 * hostile ones: up to a fixed number of keys they are compared pairwise, beyond it a table with a keyed hash is used.
 */
export class MemberKeys {
  readonly #bytes: Buffer;
  /**
   * For each listed key of all open objects: its length with its first, last and middle byte, its start and its end.
   */
  readonly #signatures: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #count = 0;
  /** The index at which the keys of the innermost object begin in the lists. */
  #base = 0;
  #table: KeyTable | undefined;
  readonly #outerBases: number[] = [];
  readonly #outerTables: (KeyTable | undefined)[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  open(): void {
    this.#outerBases.push(this.#base);
    this.#outerTables.push(this.#table);
    this.#base = this.#count;
    this.#table = undefined;
  }

  close(): void {
    this.#count = this.#base;
    this.#base = this.#outerBases.pop() ?? 0;
    this.#table = this.#outerTables.pop();
  }

  /** Adds the key whose text between the quotes is `[start, end)`. False if the current object has it already. */
  add(start: number, end: number, hasEscapes: boolean): boolean {
    if (this.#table !== undefined || hasEscapes || this.#count - this.#base === LISTED_KEYS_MAX)
      return this.#addToTable(start, end, hasEscapes);
    const bytes = this.#bytes;
    const length = end - start;
    const signature = (length << 24) | ((bytes[start] ?? 0) << 16) | ((bytes[end - 1] ?? 0) << 8) | (bytes[start + (length >> 1)] ?? 0);
    for (let index = this.#base; index < this.#count; index++) {
      if (this.#signatures[index] === signature && this.#isSame(index, start, end)) return false;
    }
    this.#signatures[this.#count] = signature;
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#count++;
    return true;
  }

  #isSame(index: number, start: number, end: number): boolean {
    const otherStart = this.#starts[index] ?? 0;
    const otherEnd = this.#ends[index] ?? 0;
    if (otherEnd - otherStart !== end - start) return false;
    return this.#bytes.compare(this.#bytes, otherStart, otherEnd, start, end) === 0;
  }

  #addToTable(start: number, end: number, hasEscapes: boolean): boolean {
    this.#table ??= this.#createTable();
    if (!hasEscapes) return this.#table.add(this.#bytes, start, end);
    const unescaped = toComparableBytes(readKey(this.#bytes, start, end, true));
    return this.#table.add(unescaped, 0, unescaped.length);
  }

  #createTable(): KeyTable {
    const table = new KeyTable(this.#bytes);
    for (let index = this.#base; index < this.#count; index++) table.add(this.#bytes, this.#starts[index] ?? 0, this.#ends[index] ?? 0);
    return table;
  }
}

/** The key whose text between the quotes is `[start, end)`, unescaped. */
export function readKey(bytes: Buffer, start: number, end: number, hasEscapes: boolean): string {
  const text = bytes.toString('utf8', start, end);
  // The scan has checked the escapes.
  return hasEscapes ? String(JSON.parse(`"${text}"`)) : text;
}

/** The key as UTF-8. Half surrogate pairs, which UTF-8 cannot express, get a form that no valid UTF-8 equals. */
function toComparableBytes(key: string): Buffer {
  return key.isWellFormed() ? Buffer.from(key) : Buffer.concat([Buffer.from([0xff]), Buffer.from(key, 'utf16le')]);
}
