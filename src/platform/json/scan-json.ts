import { isUtf8 } from 'node:buffer';
import { abbreviateText } from './abbreviate-text.ts';
import { JsonProblemError } from './json-problem-error.ts';
import type { JsonProblemKind } from './json-problem-error.ts';
import type { JsonSpan } from './json-span.ts';
import { listMembers } from './locate-json.ts';
import { MemberKeys, readKey } from './member-keys.ts';
import { INVALID, PAUSED, StringScanner } from './scan-string.ts';
import { skipWhiteSpace } from './skip-json.ts';

export { JsonProblemError } from './json-problem-error.ts';

export type JsonLimits = {
  /** The most arrays and objects inside each other; 64 if absent. */
  readonly depthMax?: number;
  /** The most values and keys together; 250,000 if absent. */
  readonly tokensMax?: number;
};

/** The limits of a text for which none are given. */
export const jsonLimitsUsual = { depthMax: 64, tokensMax: 250_000 } as const;

/**
 * The longest key between its quotes, and the longest number, in bytes, because both are read in one step. Real
 * interfaces use at most a few hundred.
 */
export const jsonPartBytesMax = 65_536;
/** The most white space in one place, in bytes. */
export const jsonSpaceBytesMax = 1_048_576;

export type JsonScan = {
  readonly rootType: 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
  /** The values of the root object by key, computed at the first access; empty if the root is not an object. */
  readonly members: ReadonlyMap<string, JsonSpan>;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Checks a JSON text byte by byte without building anything: strict RFC 8259 syntax, valid UTF-8 without a byte order
 * mark, no key twice in the same object (compared unescaped), bounded depth and size. An accepted text is safe for
 * `parseJson`, `locateJson` and byte edits, and every parser reads it the same. Linear in the bytes; stops at the first
 * problem.
 *
 * @throws JsonProblemError
 */
export function scanJson(bytes: Buffer, limits: JsonLimits = {}): JsonScan {
  const scanner = new JsonScanner(bytes, limits);
  scanner.scan(bytes.length + 1);
  const start = scanner.rootStart;
  let members: ReadonlyMap<string, JsonSpan> | undefined;
  return {
    rootType: nameType(bytes[start] ?? 0),
    get members() {
      return (members ??= new Map(listMembers(bytes, { start, end: bytes.length }).map(({ key, valueSpan }) => [key, valueSpan])));
    },
  };
}

/** Scans one text, in one step or several. */
export class JsonScanner {
  /** Where the root value begins. */
  readonly rootStart: number;
  readonly #bytes: Buffer;
  readonly #depthMax: number;
  readonly #tokensMax: number;
  #tokensLeft: number;
  readonly #strings: StringScanner;
  readonly #keys: MemberKeys;

  /** The position of the scan, and the open containers around it. */
  #at: number;
  /** Whether each open container around the innermost one is an object. */
  readonly #outer: boolean[] = [];
  #isObject = false;
  /** The position of the scan in the string at `#at`; -1 outside of strings. */
  #stringAt = -1;

  /**
   * @throws JsonProblemError if the bytes are not UTF-8
   */
  constructor(bytes: Buffer, { depthMax = jsonLimitsUsual.depthMax, tokensMax = jsonLimitsUsual.tokensMax }: JsonLimits) {
    if (!isUtf8(bytes)) throw new JsonProblemError('encoding', bytes, findInvalidUtf8(bytes), 'the body is not valid UTF-8');
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      throw new JsonProblemError('encoding', bytes, 0, 'the body begins with a byte order mark, which JSON does not allow,');
    }
    this.#bytes = bytes;
    this.rootStart = this.#skipSpace(0);
    this.#at = this.rootStart;
    this.#depthMax = depthMax;
    this.#tokensMax = tokensMax;
    this.#tokensLeft = tokensMax;
    this.#strings = new StringScanner(bytes);
    this.#keys = new MemberKeys(bytes);
  }

  /** The position at which the scan paused. */
  get position(): number {
    return this.#stringAt === -1 ? this.#at : this.#stringAt;
  }

  /**
   * Continues the scan up to about `stopAt`. False if the text continues beyond it.
   * @throws JsonProblemError
   */
  scan(stopAt: number): boolean {
    const bytes = this.#bytes;
    const outer = this.#outer;
    let isObject = this.#isObject;
    let at = this.#at;
    // Each iteration reads one value, or the opening of a container, and then all closing brackets after it.
    for (;;) {
      if (at >= stopAt && at < bytes.length) {
        this.#at = at;
        this.#isObject = isObject;
        return false;
      }
      const byte = bytes[at];
      if (this.#stringAt === -1) this.#countToken(at);
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        outer.push(isObject);
        if (outer.length > this.#depthMax) this.#failTooDeep(at);
        isObject = byte === OPEN_OBJECT;
        if (isObject) this.#keys.open();
        at = this.#skipSpace(at + 1);
        if (bytes[at] !== byte + 2) {
          if (isObject) at = this.#passKey(at);
          continue;
        }
        // An empty container: the loop below closes it.
      } else {
        const end = this.#passScalar(at, stopAt);
        if (end === PAUSED) {
          this.#at = at;
          this.#isObject = isObject;
          return false;
        }
        at = this.#skipSpace(end);
      }
      for (;;) {
        if (outer.length === 0) {
          if (at < bytes.length) this.#unexpected(at, 'the end of the body');
          return true;
        }
        const next = bytes[at];
        if (next === COMMA) {
          at = this.#skipSpace(at + 1);
          if (isObject) at = this.#passKey(at);
          break;
        }
        if (next !== (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.#unexpected(at, isObject ? 'a comma or "}"' : 'a comma or "]"');
        if (isObject) this.#keys.close();
        isObject = outer.pop() ?? false;
        at = this.#skipSpace(at + 1);
      }
    }
  }

  #skipSpace(position: number): number {
    const at = skipWhiteSpace(this.#bytes, position, position + jsonSpaceBytesMax);
    if (at - position === jsonSpaceBytesMax)
      this.#fail('part-length', position, `the body has more than ${jsonSpaceBytesMax} bytes of white space in one place`);
    return at;
  }

  /** Reads a key and its colon; returns the position of the value. */
  #passKey(at: number): number {
    const bytes = this.#bytes;
    this.#countToken(at);
    if (bytes[at] !== QUOTE) this.#unexpected(at, 'a key in double quotes');
    const end = this.#passString(at, at + 2 + jsonPartBytesMax) - 1;
    if (end - at - 1 > jsonPartBytesMax || end < 0) this.#failKeyTooLong(at);
    if (!this.#keys.add(at + 1, end, this.#strings.hasEscapes)) this.#failDuplicate(at, end);
    const colon = this.#skipSpace(end + 1);
    if (bytes[colon] !== COLON) this.#unexpected(colon, 'a colon after the key');
    return this.#skipSpace(colon + 1);
  }

  /**
   * Reads a string, number or word; returns the position after it, or PAUSED in a string that continues beyond
   * `stopAt`.
   */
  #passScalar(at: number, stopAt: number): number {
    const byte = this.#bytes[at] ?? 0;
    switch (byte) {
      case QUOTE:
        return this.#passString(at, stopAt);
      case 0x74:
        return this.#passWord(at, 'true');
      case 0x66:
        return this.#passWord(at, 'false');
      case 0x6e:
        return this.#passWord(at, 'null');
      default:
        if (byte === 0x2d || isDigit(byte)) return this.#passNumber(at);
        return this.#unexpected(at, 'a value');
    }
  }

  #passString(at: number, stopAt: number): number {
    const isBegun = this.#stringAt !== -1;
    const end = this.#strings.scan(isBegun ? this.#stringAt : at + 1, Math.min(stopAt, this.#bytes.length));
    this.#stringAt = end === PAUSED ? this.#strings.pausedAt : -1;
    if (end >= 0) return end + 1;
    if (end === PAUSED) return PAUSED;
    if (end !== INVALID) return this.#fail('incomplete', this.#bytes.length, 'the body ends inside a string');
    const { invalidAt } = this.#strings;
    const isEscape = this.#bytes[invalidAt] === 0x5c;
    return this.#fail(
      'syntax',
      invalidAt,
      isEscape ? 'there is an escape that JSON does not know' : 'there is a control character that must be escaped',
    );
  }

  #passWord(at: number, word: string): number {
    for (let index = 1; index < word.length; index++) {
      if (this.#bytes[at + index] !== word.charCodeAt(index)) return this.#unexpected(at + index, `the word ${word}`);
    }
    return at + word.length;
  }

  #passNumber(start: number): number {
    const bytes = this.#bytes;
    let at = bytes[start] === 0x2d ? start + 1 : start;
    // No digit may follow a leading zero.
    if (bytes[at] === 0x30) at++;
    else at = this.#passDigits(at);
    let byte = bytes[at] ?? 0;
    // Most numbers end here.
    if (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) return at;
    if (byte === 0x2e) {
      at = this.#passDigits(at + 1);
      byte = bytes[at] ?? 0;
    }
    if (byte === 0x65 || byte === 0x45) {
      const sign = bytes[at + 1];
      at = this.#passDigits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
    }
    return at;
  }

  #passDigits(start: number): number {
    let at = start;
    const end = start + jsonPartBytesMax + 1;
    while (at < end && isDigit(this.#bytes[at] ?? 0)) at++;
    if (at === end) this.#fail('part-length', start, `the body has a number of more than ${jsonPartBytesMax} digits`);
    return at > start ? at : this.#unexpected(at, 'a digit');
  }

  #countToken(at: number): void {
    if (--this.#tokensLeft >= 0) return;
    this.#fail('tokens', at, `the body has too many parts: at most ${this.#tokensMax} values and keys are accepted, exceeded`);
  }

  #failTooDeep(at: number): never {
    return this.#fail(
      'depth',
      at,
      `the body is nested too deeply: at most ${this.#depthMax} arrays and objects may be inside each other, exceeded`,
    );
  }

  #failKeyTooLong(quote: number): never {
    return this.#fail('part-length', quote, `the body has a key of more than ${jsonPartBytesMax} bytes`);
  }

  #failDuplicate(quote: number, end: number): never {
    const key = abbreviateText(readKey(this.#bytes, quote + 1, end, this.#strings.hasEscapes));
    throw new JsonProblemError(
      'duplicate-key',
      this.#bytes,
      quote,
      `the key ${JSON.stringify(key)} appears twice in the same object, again`,
      key,
    );
  }

  #unexpected(at: number, wanted: string): never {
    if (at >= this.#bytes.length) {
      return this.#fail('incomplete', this.#bytes.length, `the body ends too early: expected ${wanted}`);
    }
    return this.#fail('syntax', at, `the body is not valid JSON: expected ${wanted}, but found ${showByte(this.#bytes[at] ?? 0)}`);
  }

  #fail(kind: JsonProblemKind, at: number, what: string): never {
    throw new JsonProblemError(kind, this.#bytes, at, what);
  }
}

function nameType(byte: number): JsonScan['rootType'] {
  switch (byte) {
    case OPEN_OBJECT:
      return 'object';
    case OPEN_ARRAY:
      return 'array';
    case QUOTE:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return 'number';
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** One byte in an error message: itself where it is printable. */
function showByte(byte: number): string {
  if (byte === QUOTE) return "'\"'";
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `the byte 0x${byte.toString(16).padStart(2, '0')}`;
}

/** The first byte that does not belong to valid UTF-8. */
function findInvalidUtf8(bytes: Buffer): number {
  // A prefix that is cut inside a character is invalid too, so the search narrows to a few bytes and then looks at each
  // cut.
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 8) {
    const middle = findCharacterStart(bytes, (valid + invalid) >> 1, valid);
    if (isUtf8(bytes.subarray(valid, middle))) valid = middle;
    else invalid = middle;
  }
  for (let at = valid; at < bytes.length;) {
    const size = [1, 2, 3, 4].find((length) => at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)));
    if (size === undefined) return at;
    at += size;
  }
  return bytes.length;
}

/** The first byte of the character that `position` lies in, at most three bytes before it. */
function findCharacterStart(bytes: Buffer, position: number, from: number): number {
  let at = position;
  while (at > from && position - at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}
