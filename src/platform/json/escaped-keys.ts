import type { JsonValue } from './json-value.ts';

const backslash = 0x5c;
const quote = 0x22;

/**
 * Whether a key of valid JSON may be written with an escape, as `"\u0061"` is. False is certain. Only what stands
 * before a colon is read, because there are fewer keys than characters.
 */
export function mayHaveEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let at = colon - 1;
    while (text.charCodeAt(at) <= 0x20) at--;
    if (text.charCodeAt(at) === quote && !isPlain(text, at)) return true;
  }
  return false;
}

/** Whether the string that ends with this quote has no escape, or the quote is itself part of a string. */
function isPlain(text: string, last: number): boolean {
  let at = last - 1;
  if (text.charCodeAt(at) === backslash) return countBackslashes(text, at) % 2 === 1;
  for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(--at)) if (code === backslash || at < 0) return false;
  return text.charCodeAt(at - 1) !== backslash;
}

function countBackslashes(text: string, last: number): number {
  let at = last;
  while (text.charCodeAt(at) === backslash) at--;
  return last - at;
}

/** The position after the string of which the characters begin at `start`. */
function endOfString(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code !== quote && at < text.length; code = text.charCodeAt(at)) at += code === backslash ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

function endOfScalar(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code > 0x20 && code !== 0x2c && code !== 0x5d && code !== 0x7d; code = text.charCodeAt(at)) at++;
  return at;
}

type Members = { [name: string]: JsonValue };
/** An open array or object. `key`: the member whose value comes next. */
type Open = { readonly list: JsonValue[] } | { readonly members: Members; key?: string };

/**
 * Parses valid JSON with a call of JSON.parse for each string and number, and puts the objects together itself. It is
 * the same value. Any depth works.
 * @throws SyntaxError if the text ends too early
 */
export function parsePieces(text: string): JsonValue {
  const open: Open[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const first = text[at];
    let value: JsonValue | undefined;
    if (first === '{') open.push({ members: {} });
    else if (first === '[') open.push({ list: [] });
    else if (first === '}' || first === ']') value = valueOf(open.pop());
    let end = at + 1;
    if (!'{}[]:,'.includes(first ?? '')) {
      end = first === '"' ? endOfString(text, end) : endOfScalar(text, at);
      value = JSON.parse(text.slice(at, end)) as JsonValue;
    }
    const within = open.at(-1);
    if (within === undefined && value !== undefined) return value;
    if (within !== undefined && value !== undefined) add(within, value);
    at = skipSpace(text, end);
  }
  throw new SyntaxError('the text is not JSON');
}

function valueOf(closed: Open | undefined): JsonValue | undefined {
  return closed === undefined || 'members' in closed ? closed?.members : closed.list;
}

/** The next element of an array; of an object first the key and then its value. */
function add(within: Open, value: JsonValue): void {
  if ('list' in within) within.list.push(value);
  else if (within.key !== undefined) {
    // As JSON.parse does it: `__proto__` is a member like any other.
    Object.defineProperty(within.members, within.key, { value, writable: true, enumerable: true, configurable: true });
    delete within.key;
  } else if (typeof value === 'string') within.key = value;
  else throw new SyntaxError('a key is not a string');
}
