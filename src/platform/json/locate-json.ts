import type { JsonSpan } from './json-span.ts';
import { parseJson } from './parse-json.ts';
import { skipString, skipValue, skipWhiteSpace } from './skip-json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

export type JsonMember = {
  /** The key, unescaped. */
  readonly key: string;
  /** With its quotes. */
  readonly keySpan: JsonSpan;
  readonly valueSpan: JsonSpan;
};

/**
 * Finds the value at a path (member names and element indexes, from the root) in JSON that `scanJson` has accepted.
 * The empty path is the root. `undefined` if there is no such value. Reads only the bytes before the value, once.
 */
export function locateJson(bytes: Buffer, path: readonly (string | number)[]): JsonSpan | undefined {
  let span = rootSpan(bytes);
  for (const step of path) {
    const found: JsonSpan | undefined = typeof step === 'number' ? findElement(bytes, span, step) : findMember(bytes, span, step);
    if (found === undefined) return undefined;
    span = found;
  }
  return span;
}

/** The members of the object at `span`, in order; none if it is not an object. */
export function listMembers(bytes: Buffer, span: JsonSpan): JsonMember[] {
  const members: JsonMember[] = [];
  eachMember(bytes, span, (keySpan, valueSpan) => {
    members.push({ key: readKey(bytes, keySpan), keySpan, valueSpan });
    return false;
  });
  return members;
}

/** The elements of the array at `span`, in order; none if it is not an array. */
export function listElements(bytes: Buffer, span: JsonSpan): JsonSpan[] {
  const elements: JsonSpan[] = [];
  eachElement(bytes, span, (element) => {
    elements.push(element);
    return false;
  });
  return elements;
}

/** The root ends at the last byte that is not white space, so its content need not be read. */
function rootSpan(bytes: Buffer): JsonSpan {
  const start = skipWhiteSpace(bytes, 0);
  let end = bytes.length;
  while (end > start && isWhiteSpace(bytes[end - 1] ?? 0)) end--;
  return { start, end };
}

function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function findMember(bytes: Buffer, span: JsonSpan, name: string): JsonSpan | undefined {
  const wanted = Buffer.from(name);
  let found: JsonSpan | undefined;
  eachMember(bytes, span, (keySpan, valueSpan) => {
    if (isKey(bytes, keySpan, wanted, name)) found = valueSpan;
    return found !== undefined;
  });
  return found;
}

function findElement(bytes: Buffer, span: JsonSpan, index: number): JsonSpan | undefined {
  let left = index;
  let found: JsonSpan | undefined;
  eachElement(bytes, span, (element) => {
    if (left-- === 0) found = element;
    return found !== undefined;
  });
  return found;
}

function eachMember(bytes: Buffer, span: JsonSpan, visit: (keySpan: JsonSpan, valueSpan: JsonSpan) => boolean): void {
  if (bytes[span.start] !== 0x7b) return;
  let at = skipWhiteSpace(bytes, span.start + 1);
  while (bytes[at] === QUOTE) {
    const keySpan = { start: at, end: skipString(bytes, at) };
    const colon = skipWhiteSpace(bytes, keySpan.end);
    if (bytes[colon] !== COLON) return;
    const valueSpan = spanAt(bytes, skipWhiteSpace(bytes, colon + 1));
    if (visit(keySpan, valueSpan)) return;
    at = skipWhiteSpace(bytes, valueSpan.end);
    if (bytes[at] !== COMMA) return;
    at = skipWhiteSpace(bytes, at + 1);
  }
}

function eachElement(bytes: Buffer, span: JsonSpan, visit: (element: JsonSpan) => boolean): void {
  if (bytes[span.start] !== 0x5b) return;
  let at = skipWhiteSpace(bytes, span.start + 1);
  if (bytes[at] === 0x5d) return;
  for (;;) {
    const element = spanAt(bytes, at);
    if (element.end === element.start || visit(element)) return;
    at = skipWhiteSpace(bytes, element.end);
    if (bytes[at] !== COMMA) return;
    at = skipWhiteSpace(bytes, at + 1);
  }
}

function spanAt(bytes: Buffer, start: number): JsonSpan {
  return { start, end: skipValue(bytes, start) };
}

function isKey(bytes: Buffer, keySpan: JsonSpan, wanted: Buffer, name: string): boolean {
  const inner = bytes.subarray(keySpan.start + 1, keySpan.end - 1);
  return inner.includes(BACKSLASH) ? readKey(bytes, keySpan) === name : inner.equals(wanted);
}

function readKey(bytes: Buffer, keySpan: JsonSpan): string {
  const inner = bytes.subarray(keySpan.start + 1, keySpan.end - 1);
  if (!inner.includes(BACKSLASH)) return inner.toString('utf8');
  try {
    const key = parseJson(bytes.subarray(keySpan.start, keySpan.end));
    if (typeof key !== 'string') throw new TypeError('a JSON key is not a string');
    return key;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Frames of upstreams are edited before anything has checked them. Such a key has no other name than its text.
    return inner.toString('utf8');
  }
}
