/** Writes the bits of one unit of an H.264 stream, its Exp-Golomb codes included (ITU-T H.264, clauses 7.2 and 9.1). */
export type BitWriter = {
  /** The lowest `count` bits of a number, 32 at most, the highest first. */
  readonly bits: (value: number, count: number) => void;
  /** ue(v) */
  readonly unsigned: (value: number) => void;
  /** Zeros up to the next whole byte. */
  readonly align: () => void;
  /** Whole bytes; the writer must be aligned. */
  readonly bytes: (bytes: Uint8Array) => void;
  /** Ends the payload with its stop bit and makes a unit of it, without a start code or a length. */
  readonly finish: () => Uint8Array;
};

/**
 * Begins a unit.
 * @param header the one byte of nal_ref_idc and nal_unit_type
 * @param capacity the largest possible payload in bytes
 */
export function createBitWriter(header: number, capacity: number): BitWriter {
  const buffer = new Uint8Array(capacity + 2);
  buffer[0] = header;
  let length = 1;
  let current = 0;
  let filled = 0;
  const bits = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit--) {
      current = (current << 1) | ((value >>> bit) & 1);
      filled += 1;
      if (filled < 8) continue;
      buffer[length] = current;
      length += 1;
      current = 0;
      filled = 0;
    }
  };
  const align = (): void => bits(0, (8 - filled) % 8);
  return {
    bits,
    align,
    unsigned(value) {
      const width = 32 - Math.clz32(value + 1);
      bits(0, width - 1);
      bits(value + 1, width);
    },
    bytes(bytes) {
      buffer.set(bytes, length);
      length += bytes.length;
    },
    finish() {
      bits(1, 1);
      align();
      return preventEmulation(buffer.subarray(0, length));
    },
  };
}

/**
 * Puts a 3 before every byte below 4 that follows two zeros, so that no payload looks like a start code (clause 7.4.1).
 */
function preventEmulation(unit: Uint8Array): Uint8Array {
  const places: number[] = [];
  let zeros = 0;
  for (const [index, byte] of unit.entries()) {
    if (zeros >= 2 && byte <= 3) {
      places.push(index);
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  const escaped = new Uint8Array(unit.length + places.length);
  let from = 0;
  for (const [count, place] of places.entries()) {
    escaped.set(unit.subarray(from, place), from + count);
    escaped[place + count] = 3;
    from = place;
  }
  escaped.set(unit.subarray(from), from + places.length);
  return escaped;
}
