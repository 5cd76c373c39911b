// The keys of open objects, as 64-bit marks, to find those that occur twice. Equal marks are taken for equal keys: the
// text is then not clean, and is compared byte by byte elsewhere.

import { HASHES, OPEN_KEYS, SCRATCH, STACK, TABLE } from './memory';

const LISTED_MAX: i32 = 32;
const FIRST_SLOTS: i32 = 1024;
const SLOTS_MAX: i32 = 262144;

let key0: u64 = 0;
let key1: u64 = 0;
/** The end of the hashes of all open objects. */
let listEnd: usize = HASHES;
let serials: u64 = 0;
let slots: i32 = 0;
let used: i32 = 0;

/** The seed of the hashes, which no client knows. */
export function seed(first: u64, second: u64): void {
  key0 = first;
  key1 = second;
}

export function resetKeys(): void {
  listEnd = HASHES;
  serials = 0;
  slots = 0;
  used = 0;
}

@inline
function entryOf(top: usize): usize {
  return OPEN_KEYS + (top - STACK);
}

/** Entries: address of the first hash (4 bytes), free, serial number (8 bytes), zero while the object is only listed. */
@inline
export function openKeys(top: usize): void {
  const entry = entryOf(top);
  store<u32>(entry, <u32>listEnd);
  store<u64>(entry, 0, 8);
}

@inline
export function closeKeys(top: usize): void {
  listEnd = <usize>load<u32>(entryOf(top));
  // Hashes are compared in pairs, and the second of the last pair must be none.
  store<u64>(listEnd, 0);
}

/** Adds a key of the innermost object. False if it has that key already, or has too many. */
export function isNewKey(from: usize, to: usize, top: usize, flags: i32): bool {
  let hash: u64;
  if ((flags & 8) == 0) hash = markOf(from, to - from);
  else hash = markOf(SCRATCH, unescape(from, to));
  if (hash == 0) hash = 1;
  const entry = entryOf(top);
  const first = <usize>load<u32>(entry);
  let serial = load<u64>(entry, 8);
  if (serial == 0) {
    const wanted = i64x2.splat(hash);
    for (let at = first; at < listEnd; at += 16) if (v128.any_true(i64x2.eq(v128.load(at), wanted))) return false;
    if (listEnd - first < <usize>LISTED_MAX * 8) {
      store<u64>(listEnd, hash);
      store<u64>(listEnd, 0, 8);
      listEnd += 8;
      return true;
    }
    serial = ++serials;
    store<u64>(entry, serial, 8);
    for (let at = first; at < listEnd; at += 8) if (!addToTable(load<u64>(at), serial)) return false;
  }
  return addToTable(hash, serial);
}

/** The table has the keys of all large objects; the serial number makes those of each different. */
function addToTable(mark: u64, serial: u64): bool {
  if (used * 2 >= slots && !grow()) return false;
  store<u64>(SCRATCH, mark);
  let own = hashOf(SCRATCH, 8) ^ (serial * 0x9e3779b97f4a7c15);
  if (own == 0) own = 1;
  if (!insert(own)) return false;
  used++;
  return true;
}

@inline
function tableOf(size: i32): usize {
  return TABLE + <usize>(size - FIRST_SLOTS) * 8;
}

function insert(own: u64): bool {
  const table = tableOf(slots);
  const mask = <u32>slots - 1;
  let slot = <u32>own & mask;
  while (true) {
    const at = table + <usize>slot * 8;
    const other = load<u64>(at);
    if (other == 0) {
      store<u64>(at, own);
      return true;
    }
    if (other == own) return false;
    slot = (slot + 1) & mask;
  }
}

/** Doubles the table. Tables of all sizes lie one after another. */
function grow(): bool {
  const before = slots;
  if (before == SLOTS_MAX) return false;
  slots = before == 0 ? FIRST_SLOTS : before * 2;
  const table = tableOf(slots);
  const end = table + <usize>slots * 8;
  const pages = <i32>((end + 65535) >> 16) - memory.size();
  if (pages > 0 && memory.grow(pages) == -1) return false;
  memory.fill(table, 0, <usize>slots * 8);
  if (before == 0) return true;
  const from = tableOf(before);
  for (let at = from; at < table; at += 8) {
    const own = load<u64>(at);
    if (own != 0) insert(own);
  }
  return true;
}

/**
 * Stands for a key in the list of a small object, where most objects end: SipHash takes longer than the rest of a key.
 * Equal keys have equal marks. Clients may find different keys with one mark, and gain nothing: the text is compared
 * byte by byte then. In the table of large objects the hash of the mark is the place.
 */
@inline
function markOf(from: usize, length: usize): u64 {
  if (length > 16) return hashOf(from, length);
  let word = load<u64>(from);
  // The length takes the place of the last byte: a key may end with U+0000.
  if (length < 8) word = (word & ((<u64>1 << (<u64>length * 8)) - 1)) | (<u64>length << 56);
  let mark = (word ^ key0) * 0x9e3779b97f4a7c15;
  mark ^= mark >> 32;
  if (length > 8) mark ^= (load<u64>(from + length - 8) + length) * 0xbf58476d1ce4e5b9;
  return mark;
}

/** SipHash-1-3 (github.com/veorq/SipHash). Reads at most 8 bytes beyond the last. */
function hashOf(from: usize, length: usize): u64 {
  let v0 = key0 ^ 0x736f6d6570736575;
  let v1 = key1 ^ 0x646f72616e646f6d;
  let v2 = key0 ^ 0x6c7967656e657261;
  let v3 = key1 ^ 0x7465646279746573;
  let p = from;
  let rounds = <i32>(length >> 3) + 4;
  let word: u64 = 0;
  for (; rounds > 0; rounds--) {
    if (rounds > 4) {
      word = load<u64>(p);
      p += 8;
    } else if (rounds == 4) {
      const left = (length & 7) * 8;
      word = (<u64>length << 56) | (load<u64>(p) & ((<u64>1 << left) - 1));
    } else {
      if (rounds == 3) v2 ^= 0xff;
      word = 0;
    }
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl(v1, 13) ^ v0;
    v3 = rotl(v3, 16) ^ v2;
    v0 = rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = rotl(v1, 17) ^ v2;
    v3 = rotl(v3, 21) ^ v0;
    v2 = rotl(v2, 32);
    v0 ^= word;
  }
  return v0 ^ v1 ^ v2 ^ v3;
}

@inline
function hexValue(c: u32): u32 {
  return c <= 0x39 ? c - 0x30 : (c | 0x20) - 0x57;
}

@inline
function unitAt(p: usize): u32 {
  return (hexValue(load<u8>(p)) << 12) | (hexValue(load<u8>(p, 1)) << 8) | (hexValue(load<u8>(p, 2)) << 4) | hexValue(load<u8>(p, 3));
}

/**
 * Writes a key without its escapes to SCRATCH, and returns its length. Half a surrogate pair becomes three bytes that
 * valid UTF-8 never has, so that keys are equal if and only if their bytes are.
 */
function unescape(from: usize, to: usize): usize {
  let out = SCRATCH;
  let p = from;
  while (p < to) {
    const c: u32 = load<u8>(p);
    if (c != 0x5c) {
      store<u8>(out++, c);
      p++;
      continue;
    }
    const escape: u32 = load<u8>(p, 1);
    if (escape != 0x75) {
      store<u8>(out++, simpleEscape(escape));
      p += 2;
      continue;
    }
    let point = unitAt(p + 2);
    p += 6;
    if ((point & 0xfc00) == 0xd800 && p + 6 <= to && load<u16>(p) == 0x755c) {
      const low = unitAt(p + 2);
      if ((low & 0xfc00) == 0xdc00) {
        point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
        p += 6;
      }
    }
    out = writePoint(out, point);
  }
  return out - SCRATCH;
}

function simpleEscape(c: u32): u32 {
  if (c == 0x62) return 0x08;
  if (c == 0x66) return 0x0c;
  if (c == 0x6e) return 0x0a;
  if (c == 0x72) return 0x0d;
  return c == 0x74 ? 0x09 : c;
}

function writePoint(out: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(out, point);
    return out + 1;
  }
  if (point < 0x800) {
    store<u8>(out, 0xc0 | (point >> 6));
    store<u8>(out, 0x80 | (point & 0x3f), 1);
    return out + 2;
  }
  if (point < 0x10000) {
    store<u8>(out, 0xe0 | (point >> 12));
    store<u8>(out, 0x80 | ((point >> 6) & 0x3f), 1);
    store<u8>(out, 0x80 | (point & 0x3f), 2);
    return out + 3;
  }
  store<u8>(out, 0xf0 | (point >> 18));
  store<u8>(out, 0x80 | ((point >> 12) & 0x3f), 1);
  store<u8>(out, 0x80 | ((point >> 6) & 0x3f), 2);
  store<u8>(out, 0x80 | (point & 0x3f), 3);
  return out + 4;
}
