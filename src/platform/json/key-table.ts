import { randomFillSync } from 'node:crypto';

const FIRST_SLOTS = 64;

/**
 * A set of byte strings that are ranges of buffers. It uses open addressing with a keyed hash (HalfSipHash-1-3), so
 * that no client can choose keys that collide: V8's own string hash looks only at the length of very long strings.
 */
export class KeyTable {
  readonly #bytes: Buffer;
  readonly #seed = randomFillSync(new Int32Array(2));
  /** For each slot the number of its key plus one, or zero. */
  #slots = new Int32Array(FIRST_SLOTS);
  readonly #hashes: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** The buffers of the keys that are not ranges of `bytes`, by key number. */
  readonly #others = new Map<number, Buffer>();

  /** @param bytes the buffer that most keys are ranges of */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Adds a key. False if the table has an equal key. */
  add(source: Buffer, start: number, end: number): boolean {
    const hash = halfSipHash(source, start, end, this.#seed[0] ?? 0, this.#seed[1] ?? 0);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const number = this.#slots[slot] ?? 0;
      if (number === 0) break;
      if (this.#hashes[number - 1] === hash && this.#isSame(number - 1, source, start, end)) return false;
      slot = (slot + 1) & mask;
    }
    const count = this.#hashes.push(hash);
    this.#starts.push(start);
    this.#ends.push(end);
    if (source !== this.#bytes) this.#others.set(count - 1, source);
    this.#slots[slot] = count;
    if (count * 2 > this.#slots.length) this.#grow();
    return true;
  }

  #isSame(number: number, source: Buffer, start: number, end: number): boolean {
    const other = this.#others.get(number) ?? this.#bytes;
    const otherStart = this.#starts[number] ?? 0;
    const otherEnd = this.#ends[number] ?? 0;
    return otherEnd - otherStart === end - start && other.compare(source, start, end, otherStart, otherEnd) === 0;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 4);
    const mask = slots.length - 1;
    this.#hashes.forEach((hash, index) => {
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = index + 1;
    });
    this.#slots = slots;
  }
}

/**
 * HalfSipHash with one round per word and three at the end, 32 bits, as in the reference implementation
 * (github.com/veorq/SipHash).
 */
export function halfSipHash(bytes: Buffer, start: number, end: number, key0: number, key1: number): number {
  let v0 = key0;
  let v1 = key1;
  let v2 = 0x6c796765 ^ key0;
  let v3 = 0x74656462 ^ key1;
  const words = (end - start) >> 2;
  let at = start;
  // Whole words, then the last bytes with the length on top, then three rounds without input.
  for (let round = 0; round < words + 4; round++) {
    let word = 0;
    if (round < words) {
      word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
      at += 4;
    } else if (round === words) {
      word = (end - start) << 24;
      for (let shift = 0; at < end; at++, shift += 8) word |= (bytes[at] ?? 0) << shift;
    } else if (round === words + 1) {
      v2 ^= 0xff;
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return v1 ^ v3;
}
