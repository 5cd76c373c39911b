// Checks a JSON text that is fed window by window, and writes a node for each value and key. See README.md.

import { closeKeys, isNewKey, openKeys, resetKeys } from './keys';
import { beginString, INCOMPLETE, INVALID, NON_ASCII, passString, resumeAt, stringAdjust, stringFlags } from './strings';
import { DEPTH_MAX, INPUT, NODES, NODES_END, NODE_BYTES, PATCHES, PATCH_BYTES, STACK, STACK_ENTRY } from './memory';

export { seed } from './keys';
export { INPUT, INPUT_BYTES, NODES, PATCHES } from './memory';

// The answers of `scan`.
const MORE: i32 = 0;
const NODES_FULL: i32 = 1;
const CLEAN: i32 = 2;
const NOT_CLEAN: i32 = 3;

// What is expected next.
const VALUE: i32 = 0;
const VALUE_OR_CLOSE: i32 = 1;
const KEY: i32 = 2;
const KEY_OR_CLOSE: i32 = 3;
const COLON: i32 = 4;
const AFTER_VALUE: i32 = 5;
const IN_STRING: i32 = 6;
const END: i32 = 7;

const OBJECT: i32 = 0;
const ARRAY: i32 = 1;
const STRING: i32 = 2;
const NUMBER: i32 = 3;
const TRUE: i32 = 4;
const FALSE: i32 = 5;
const NULL: i32 = 6;
const KEY_KIND: i32 = 7;

const SPACE_MAX: i32 = 1048576;
const PART_MAX: i32 = 65536;

let depthMax: i32 = 0;
let tokensMax: i32 = 0;

let state: i32 = VALUE;
/** Position in the text of the first byte of the window. */
let base: i32 = 0;
/** Number of nodes until now, and of those that were taken from the window. */
let count: i32 = 0;
let taken: i32 = 0;
/** The entry of the innermost open container: node, size, kind. The entry below the first is not used. */
let top: usize = STACK;
let patches: i32 = 0;
/** Where the string begins that the window ended in. */
let stringStart: i32 = 0;
/** White space until now in the place of the text where the window began. */
let space: i32 = 0;
let consumed: i32 = 0;
let nonAscii: i32 = 0;

export function getConsumed(): i32 {
  return consumed;
}
export function getCount(): i32 {
  return count;
}
export function getPatches(): i32 {
  return patches;
}
/** Not zero if any string until now has bytes that are not ASCII. */
export function getNonAscii(): i32 {
  return nonAscii;
}

/** Begins a text. */
export function begin(depth: i32, tokens: i32): void {
  depthMax = min(depth, DEPTH_MAX);
  tokensMax = tokens;
  state = VALUE;
  base = 0;
  count = 0;
  taken = 0;
  top = STACK;
  patches = 0;
  space = 0;
  consumed = 0;
  nonAscii = 0;
  resetKeys();
}

/** Says that the nodes and patches of the window were taken. */
export function take(): void {
  taken = count;
  patches = 0;
}

@inline
function emit(at: usize, kind: i32, start: i32, end: i32, next: i32, size: i32): void {
  store<i32>(at, kind, 0);
  store<i32>(at, start, 4);
  store<i32>(at, end, 8);
  store<i32>(at, next, 12);
  store<i32>(at, size, 16);
}

@inline
function pause(answer: i32, p: usize, s: i32, nodes: i32): i32 {
  consumed = <i32>(p - INPUT);
  base += consumed;
  state = s;
  count = nodes;
  return answer;
}

@inline
function isSpace(c: u32): bool {
  return c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09;
}

/** The first byte that is not white space; the bytes after the window are none. */
function skipSpace(from: usize): usize {
  let p = from + 1;
  for (let near = p + 4; p < near; p++) if (!isSpace(load<u8>(p))) return p;
  while (true) {
    const block = v128.load(p);
    const found = v128.or(
      v128.or(i8x16.eq(block, i8x16.splat(0x20)), i8x16.eq(block, i8x16.splat(0x0a))),
      v128.or(i8x16.eq(block, i8x16.splat(0x0d)), i8x16.eq(block, i8x16.splat(0x09))),
    );
    const others = i8x16.bitmask(found) ^ 0xffff;
    if (others != 0) return p + <usize>ctz(others);
    p += 16;
  }
}

@inline
function isDigit(c: u32): bool {
  return c - 0x30 <= 9;
}

/** The first byte after digits, of which there must be one and may be PART_MAX; INVALID otherwise. */
@inline
function passDigits(from: usize): usize {
  let p = from;
  while (isDigit(load<u8>(p))) p++;
  return p == from || p - from > <usize>PART_MAX ? INVALID : p;
}

/** The first byte after a number; INVALID if it is none. The bytes after the window are no digits. */
@inline
function passNumber(from: usize, end: usize): usize {
  let p = from;
  if (load<u8>(p) == 0x2d) p++;
  if (load<u8>(p) == 0x30) p++;
  else {
    p = passDigits(p);
    if (p == INVALID) return INVALID;
  }
  let c: u32 = load<u8>(p);
  if (c == 0x2e) {
    p = passDigits(p + 1);
    if (p == INVALID) return INVALID;
    c = load<u8>(p);
  }
  if ((c | 0x20) == 0x65) {
    c = load<u8>(p, 1);
    p = passDigits(c == 0x2b || c == 0x2d ? p + 2 : p + 1);
  }
  return p;
}

/**
 * Continues with the bytes in the window. `last` says that the text ends with them.
 */
export function scan(length: i32, last: bool): i32 {
  const end = INPUT + <usize>length;
  memory.fill(end, 0, 96);
  let p: usize = INPUT;
  let s = state;
  /** Added to an address, it gives the position in the text. */
  const shift = base - <i32>INPUT;
  let nodes = count;
  let at: usize = NODES + <usize>(nodes - taken) * NODE_BYTES;
  if (s == IN_STRING) {
    const q = passString(p, end);
    if (q == INVALID) return NOT_CLEAN;
    if (q == INCOMPLETE) return pause(MORE, resumeAt, s, nodes);
    const stop = <i32>q + 1 + shift;
    nonAscii |= stringFlags & NON_ASCII;
    emit(at, STRING | stringFlags, stringStart, stop, nodes + 1, stop - stringStart - 2 + stringAdjust);
    at += NODE_BYTES;
    nodes++;
    p = q + 1;
    s = top == STACK ? END : AFTER_VALUE;
    space = 0;
  } else if (!isSpace(load<u8>(p))) space = 0;
  while (true) {
    let c: u32 = load<u8>(p);
    if (c <= 0x20) {
      if (p >= end) {
        if (last && s == END) return pause(CLEAN, p, s, nodes);
        return pause(MORE, p, s, nodes);
      }
      if (!isSpace(c)) return NOT_CLEAN;
      const q = skipSpace(p);
      space += <i32>(q - p);
      p = q;
      if (space >= SPACE_MAX) return NOT_CLEAN;
      if (p >= end) continue;
      space = 0;
      c = load<u8>(p);
    }
    if (s == AFTER_VALUE) {
      if (c == 0x2c) {
        s = load<i32>(top, 8) == OBJECT ? KEY : VALUE;
        p++;
        c = load<u8>(p);
        if (c <= 0x20) continue;
      }
    } else if (s == COLON) {
      if (c != 0x3a) return NOT_CLEAN;
      s = VALUE;
      p++;
      c = load<u8>(p);
      if (c == 0x20) {
        c = load<u8>(p, 1);
        if (c <= 0x20) continue;
        p++;
      } else if (c < 0x20) continue;
    }
    if ((s == KEY || s == KEY_OR_CLOSE) && c == 0x22) {
      if (at == NODES_END) return pause(NODES_FULL, p, s, nodes);
      if (nodes >= tokensMax) return NOT_CLEAN;
      beginString();
      const q = passString(p + 1, end);
      if (q == INVALID) return NOT_CLEAN;
      if (q == INCOMPLETE) return end - p - 1 > <usize>PART_MAX + 16 ? NOT_CLEAN : pause(MORE, p, s, nodes);
      const size = <i32>(q - p) - 1;
      if (size > PART_MAX) return NOT_CLEAN;
      if (!isNewKey(p + 1, q, top, stringFlags)) return NOT_CLEAN;
      nonAscii |= stringFlags & NON_ASCII;
      emit(at, KEY_KIND | stringFlags, <i32>p + shift, <i32>q + 1 + shift, nodes + 1, size + stringAdjust);
      store<i32>(top, load<i32>(top, 4) + 1, 4);
      at += NODE_BYTES;
      nodes++;
      p = q + 1;
      s = COLON;
      continue;
    }
    if (c == 0x5d || c == 0x7d) {
      const kind = load<i32>(top, 8);
      if (top == STACK || c != <u32>(kind == OBJECT ? 0x7d : 0x5d)) return NOT_CLEAN;
      if (s != AFTER_VALUE && s != VALUE_OR_CLOSE && s != KEY_OR_CLOSE) return NOT_CLEAN;
      p++;
      const node = load<i32>(top, 0);
      if (node >= taken) {
        const opened = NODES + <usize>(node - taken) * NODE_BYTES;
        store<i32>(opened, <i32>p + shift, 8);
        store<i32>(opened, nodes, 12);
        store<i32>(opened, load<i32>(top, 4), 16);
      } else {
        const patch = PATCHES + <usize>patches * PATCH_BYTES;
        store<i32>(patch, node, 0);
        store<i32>(patch, <i32>p + shift, 4);
        store<i32>(patch, nodes, 8);
        store<i32>(patch, load<i32>(top, 4), 12);
        patches++;
      }
      if (kind == OBJECT) closeKeys(top);
      top -= STACK_ENTRY;
      s = top == STACK ? END : AFTER_VALUE;
      continue;
    }
    if (s > VALUE_OR_CLOSE) return NOT_CLEAN;
    if (at == NODES_END) return pause(NODES_FULL, p, s, nodes);
    if (nodes >= tokensMax) return NOT_CLEAN;
    const start = <i32>p + shift;
    if (c == 0x22) {
      beginString();
      const q = passString(p + 1, end);
      if (q == INVALID) return NOT_CLEAN;
      if (load<i32>(top, 8) == ARRAY) store<i32>(top, load<i32>(top, 4) + 1, 4);
      if (q == INCOMPLETE) {
        stringStart = start;
        return pause(MORE, resumeAt, IN_STRING, nodes);
      }
      nonAscii |= stringFlags & NON_ASCII;
      emit(at, STRING | stringFlags, start, <i32>q + 1 + shift, nodes + 1, <i32>(q - p) - 1 + stringAdjust);
      p = q + 1;
    } else if (c == 0x7b || c == 0x5b) {
      if (<i32>(top - STACK) == depthMax * <i32>STACK_ENTRY) return NOT_CLEAN;
      if (load<i32>(top, 8) == ARRAY) store<i32>(top, load<i32>(top, 4) + 1, 4);
      const kind = c == 0x7b ? OBJECT : ARRAY;
      emit(at, kind, start, start, 0, 0);
      top += STACK_ENTRY;
      store<i32>(top, nodes, 0);
      store<i32>(top, 0, 4);
      store<i32>(top, kind, 8);
      if (kind == OBJECT) openKeys(top);
      at += NODE_BYTES;
      nodes++;
      p++;
      s = kind == OBJECT ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
      continue;
    } else {
      let q: usize;
      let kind: i32;
      if (isDigit(c) || c == 0x2d) {
        kind = NUMBER;
        q = passNumber(p, end);
        // A number ends before a byte that is no part of it. At the end of the window that byte is not there yet.
        if (!last && (q == INVALID || q == end)) {
          if (q == end || cutNumber(p, end)) return pause(MORE, p, s, nodes);
        }
        if (q == INVALID) return NOT_CLEAN;
      } else {
        if (p + 5 > end && !last) return pause(MORE, p, s, nodes);
        const word = load<u32>(p);
        if (word == 0x65757274) {
          kind = TRUE;
          q = p + 4;
        } else if (word == 0x6c6c756e) {
          kind = NULL;
          q = p + 4;
        } else if (word == 0x736c6166 && load<u8>(p, 4) == 0x65) {
          kind = FALSE;
          q = p + 5;
        } else return NOT_CLEAN;
      }
      if (load<i32>(top, 8) == ARRAY) store<i32>(top, load<i32>(top, 4) + 1, 4);
      emit(at, kind, start, <i32>q + shift, nodes + 1, 0);
      p = q;
    }
    at += NODE_BYTES;
    nodes++;
    s = top == STACK ? END : AFTER_VALUE;
  }
}

/** Whether a number is invalid only because the window ends in it. */
function cutNumber(from: usize, end: usize): bool {
  for (let p = from; p < end; p++) {
    const c: u32 = load<u8>(p);
    if (!isDigit(c) && c != 0x2d && c != 0x2b && c != 0x2e && (c | 0x20) != 0x65) return false;
  }
  return end - from <= 3 * <usize>PART_MAX + 16;
}
