import { isAscii } from 'node:buffer';

import { stepBytesUsual, WorkSlices } from '../yield-queue.ts';
import { indexJsonInSlices } from './index-json.ts';
import { type JsonIndex, jsonKind } from './json-index.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { parseJson } from './parse-json.ts';
import type { JsonLimits } from './scan-json.ts';
import { skipString, skipValue, skipWhiteSpace } from './skip-json.ts';

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openArray = 0x5b;
const openObject = 0x7b;

/**
 * A text of this size takes a turn of its own: it gets its memory at once, which takes more time than its characters
 * do, and may make a garbage collection due.
 */
const longTextBytes = 4 * 1024 * 1024;

type Slicing = { readonly slices?: WorkSlices; readonly stepBytes?: number };

/**
 * Does the same as `scanJson` and `parseJson`, in slices between which the process does other work. Results and errors
 * are the same.
 * @throws JsonProblemError
 */
export async function parseJsonInSlices(
  bytes: Buffer,
  limits: JsonLimits,
  { slices = new WorkSlices(), stepBytes = stepBytesUsual }: Slicing = {},
): Promise<JsonValue> {
  const index = await indexJsonInSlices(bytes, limits, { slices, stepBytes });
  return await parseNodeInSlices(index, 0, { slices, stepBytes });
}

/**
 * The value of a node as `parseJson` makes it, in slices between which the process does other work. A string without
 * escapes is not parsed, because its bytes are its text; for an image of 20 MB this saves most of the time.
 */
export async function parseNodeInSlices(
  index: JsonIndex,
  node: number,
  { slices = new WorkSlices(), stepBytes = stepBytesUsual }: Slicing = {},
): Promise<JsonValue> {
  const large = new Map<number, number>();
  const end = index.next(node);
  for (let inner = node; inner < end;) {
    const isLarge = index.end(inner) - index.start(inner) >= stepBytes;
    if (isLarge && index.kind(inner) !== jsonKind.key) large.set(index.start(inner), index.end(inner));
    inner = isLarge ? inner + 1 : index.next(inner);
  }
  return await new SliceParser(index.bytes, { large, slices, stepBytes }).parse(index.start(node));
}

/** The large values of a text: the end of each, by its beginning. */
type LargeValues = ReadonlyMap<number, number>;

/** Parses a scanned text: large values one by one, and the small values between them together. */
class SliceParser {
  readonly #bytes: Buffer;
  readonly #large: LargeValues;
  readonly #slices: WorkSlices;
  readonly #stepBytes: number;

  constructor(bytes: Buffer, options: { readonly large: LargeValues; readonly slices: WorkSlices; readonly stepBytes: number }) {
    this.#bytes = bytes;
    this.#large = options.large;
    this.#slices = options.slices;
    this.#stepBytes = options.stepBytes;
  }

  async parse(start: number): Promise<JsonValue> {
    if (this.#slices.isOver) await this.#slices.yield();
    const end = this.#large.get(start);
    const first = this.#bytes[start];
    if (end !== undefined) {
      if (first === quote) return await this.#parseString(start, end);
      if (first === openArray) return await this.#parseArray(start);
      if (first === openObject) return await this.#parseObject(start);
    }
    return parseJson(this.#text(start, end ?? skipValue(this.#bytes, start)));
  }

  #text(start: number, end: number): string {
    return this.#bytes.toString('utf8', start, end);
  }

  async #parseArray(start: number): Promise<JsonValue[]> {
    const items: JsonValue[] = [];
    await this.#eachGroup(start, 0, {
      together: (text) => {
        const group = parseJson(`[${text}]`);
        if (Array.isArray(group)) for (const item of group as readonly JsonValue[]) items.push(item);
      },
      alone: async (_itemStart, valueStart) => void items.push(await this.parse(valueStart)),
    });
    return items;
  }

  async #parseObject(start: number): Promise<JsonObject> {
    const object: Record<string, JsonValue> = {};
    const add = (key: string, value: JsonValue): void => {
      // An assignment to this key would set the prototype.
      if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      else object[key] = value;
    };
    await this.#eachGroup(start, 1, {
      together: (text) => {
        const group = parseJson(`{${text}}`) as JsonObject;
        for (const key of Object.keys(group)) add(key, group[key] as JsonValue);
      },
      alone: async (keyStart, valueStart) =>
        add(parseText(this.#text(keyStart, skipString(this.#bytes, keyStart))), await this.parse(valueStart)),
    });
    return object;
  }

  /**
   * Visits the items of the container at `start`: consecutive small items together, as text; large items one by one.
   * @param keys number of keys before each value
   */
  async #eachGroup(
    start: number,
    keys: 0 | 1,
    visit: { readonly together: (text: string) => void; readonly alone: (itemStart: number, valueStart: number) => Promise<void> },
  ): Promise<void> {
    const bytes = this.#bytes;
    let itemStart = skipWhiteSpace(bytes, start + 1);
    if (bytes[itemStart] === (bytes[start] ?? 0) + 2) return;
    /** The start of the small items that are parsed next; -1 if there are none. */
    let groupStart = -1;
    let groupEnd = -1;
    const closeGroup = (): void => {
      if (groupStart !== -1) visit.together(this.#text(groupStart, groupEnd));
      groupStart = -1;
    };
    for (;;) {
      const valueStart = keys === 0 ? itemStart : skipWhiteSpace(bytes, skipWhiteSpace(bytes, skipString(bytes, itemStart)) + 1);
      const largeEnd = this.#large.get(valueStart);
      const end = largeEnd ?? skipValue(bytes, valueStart);
      if (groupStart !== -1 && (largeEnd !== undefined || end - groupStart > this.#stepBytes)) {
        closeGroup();
        if (this.#slices.isOver) await this.#slices.yield();
      }
      if (largeEnd !== undefined) {
        await visit.alone(itemStart, valueStart);
      } else {
        if (groupStart === -1) groupStart = itemStart;
        groupEnd = end;
      }
      const next = skipWhiteSpace(bytes, end);
      if (bytes[next] !== comma) break;
      itemStart = skipWhiteSpace(bytes, next + 1);
    }
    closeGroup();
  }

  /** The string from its opening quote at `start`. */
  async #parseString(start: number, end: number): Promise<string> {
    const bytes = this.#bytes;
    const inner = bytes.subarray(start + 1, end - 1);
    const isPlain = !inner.includes(backslash);
    const isLong = inner.length >= longTextBytes;
    if (isPlain && isAscii(inner)) {
      if (isLong) await this.#slices.yield();
      const text = inner.toString('latin1');
      if (isLong) await this.#slices.yield();
      return text;
    }
    const parts: string[] = [];
    for (let at = start + 1; at < end - 1;) {
      const cut = findCut(bytes, at, Math.min(at + this.#stepBytes, end - 1), end - 1);
      const text = this.#text(at, cut);
      parts.push(isPlain ? text : parseText(`"${text}"`));
      at = cut;
      if (this.#slices.isOver) await this.#slices.yield();
    }
    if (isLong) await this.#slices.yield();
    const text = parts.join('');
    if (isLong) await this.#slices.yield();
    return text;
  }
}

function parseText(json: string): string {
  const text = parseJson(json);
  if (typeof text !== 'string') throw new TypeError('a JSON string was not parsed as a string');
  return text;
}

/** A position at or shortly before `at` that is not inside an escape or a character. */
function findCut(bytes: Buffer, from: number, at: number, end: number): number {
  if (at >= end) return end;
  for (let cut = at; cut > at - 6; cut--) {
    if (bytes[cut] === backslash && isEscapeStart(bytes, from, cut)) return cut;
  }
  // No escape begins in the six bytes before, so only a character can be open.
  let cut = at;
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
}

/** Whether the backslash at `at` begins an escape, and is not itself escaped. */
function isEscapeStart(bytes: Buffer, from: number, at: number): boolean {
  let before = at;
  while (before > from && bytes[before - 1] === backslash) before--;
  return (at - before) % 2 === 0;
}
