// Passes strings, 64 bytes at a time.

/** Answers of the functions that pass a part: the part is invalid, or continues after the window. */
export const INVALID: usize = 0;
export const INCOMPLETE: usize = 1;

export const ESCAPES: i32 = 8;
export const NON_ASCII: i32 = 16;

const ODD: u64 = 0xaaaaaaaaaaaaaaaa;

/** Of the string that is passed: its flags, and the difference between its units and its bytes. */
export let stringFlags: i32 = 0;
export let stringAdjust: i32 = 0;
/** After INCOMPLETE: where to continue. */
export let resumeAt: usize = 0;

@inline
export function beginString(): void {
  stringFlags = 0;
  stringAdjust = 0;
}

@inline
function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>(i8x16.bitmask(a) | (i8x16.bitmask(b) << 16))) | (<u64>(<u32>(i8x16.bitmask(c) | (i8x16.bitmask(d) << 16))) << 32)
  );
}

/** Quotes and control characters. */
@inline
function stop(block: v128): v128 {
  return v128.or(i8x16.eq(block, i8x16.splat(0x22)), i8x16.le_u(block, i8x16.splat(0x1f)));
}

@inline
function slash(block: v128): v128 {
  return i8x16.eq(block, i8x16.splat(0x5c));
}

/** Not zero at the characters that may follow a backslash alone: each is in a row and a column of the table of ASCII. */
@inline
function simple(block: v128): v128 {
  const columns = i8x16.swizzle(i8x16(0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1), v128.and(block, i8x16.splat(15)));
  const rows = i8x16.swizzle(i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0), i8x16.shr_u(block, 4));
  return i8x16.ne(v128.and(columns, rows), i8x16.splat(0));
}

@inline
function isHex(c: u32): bool {
  return c - 0x30 <= 9 || (c | 0x20) - 0x61 <= 5;
}

/**
 * Passes a string from `from`, a place after its opening quote that is not in an escape. Returns the address of the
 * closing quote, INVALID or INCOMPLETE. At least 80 bytes after `end` are zero.
 */
export function passString(from: usize, end: usize): usize {
  let p = from;
  const near = v128.load(p);
  const first = i8x16.bitmask(v128.or(stop(near), v128.or(slash(near), i8x16.lt_s(near, i8x16.splat(0)))));
  if (first == 0) p += 16;
  else {
    const at = p + <usize>ctz(first);
    if (load<u8>(at) == 0x22) return at;
  }
  let flags = stringFlags;
  let adjust = stringAdjust;
  /** 1 if the first byte of the block is escaped. */
  let carry: u64 = 0;
  while (true) {
    const a = v128.load(p);
    const b = v128.load(p, 16);
    const c = v128.load(p, 32);
    const d = v128.load(p, 48);
    let found = bits(stop(a), stop(b), stop(c), stop(d));
    const slashes = bits(slash(a), slash(b), slash(c), slash(d));
    let escaped: u64 = 0;
    if ((slashes | carry) != 0) {
      // In a row of backslashes every second one is escaped. The subtraction carries through rows that begin at even
      // places.
      const begins = slashes & ~carry;
      const ends = (((begins << 1) | ODD) - begins) ^ ODD;
      escaped = ends ^ (slashes | carry);
      carry = (ends & slashes) >> 63;
      found &= ~escaped;
    }
    /** The bytes before the first that is found. */
    const inside = found == 0 ? ~(<u64>0) : (found & -found) - 1;
    if (v128.any_true(v128.and(v128.or(v128.or(a, b), v128.or(c, d)), i8x16.splat(-128)))) {
      const high = bits(a, b, c, d) & inside;
      if (high != 0) {
        flags |= NON_ASCII;
        // Continuing bytes are no units, and characters of four bytes are two.
        const limit = i8x16.splat(-64);
        const continuing = bits(i8x16.lt_s(a, limit), i8x16.lt_s(b, limit), i8x16.lt_s(c, limit), i8x16.lt_s(d, limit));
        const f = i8x16.splat(<i8>0xf0);
        const four = bits(i8x16.ge_u(a, f), i8x16.ge_u(b, f), i8x16.ge_u(c, f), i8x16.ge_u(d, f));
        adjust += <i32>popcnt(four & inside) - <i32>popcnt(continuing & inside);
      }
    }
    escaped &= inside;
    if (escaped != 0) {
      flags |= ESCAPES;
      adjust -= <i32>popcnt(escaped);
      let others = escaped & ~bits(simple(a), simple(b), simple(c), simple(d));
      while (others != 0) {
        const at = p + <usize>ctz(others);
        if (at >= end) {
          // The window ends after a backslash.
          resumeAt = at - 1;
          stringFlags = flags;
          stringAdjust = adjust + 1;
          return INCOMPLETE;
        }
        if (load<u8>(at) != 0x75) return INVALID;
        if (!isHex(load<u8>(at, 1)) || !isHex(load<u8>(at, 2)) || !isHex(load<u8>(at, 3)) || !isHex(load<u8>(at, 4))) {
          if (at + 5 <= end) return INVALID;
          resumeAt = at - 1;
          stringFlags = flags;
          stringAdjust = adjust + 1;
          return INCOMPLETE;
        }
        adjust -= 4;
        others &= others - 1;
      }
    }
    if (found != 0) {
      const at = p + <usize>ctz(found);
      stringFlags = flags;
      stringAdjust = adjust;
      if (load<u8>(at) == 0x22) return at;
      if (at < end) return INVALID;
      resumeAt = at;
      return INCOMPLETE;
    }
    p += 64;
  }
  return INVALID;
}
