import assert from 'node:assert/strict';
import { seededRandom } from '../../../seeded-random.ts';
import type { JsonIndex } from '../../json-index.ts';
import { JsonProblemError, jsonLimitsUsual, type JsonLimits, scanJson } from '../../scan-json.ts';
import { indexScanned } from '../index-scanned.ts';
import { TextScan } from '../text-scan.ts';

/** The index that the scanner in WebAssembly makes with windows of this size; undefined if the text may be wrong. */
export function scanInWindows(bytes: Buffer, limits: JsonLimits = {}, windowBytes?: number): JsonIndex | undefined {
  const scan = new TextScan(bytes, { ...jsonLimitsUsual, ...limits }, windowBytes);
  try {
    for (;;) {
      const index = scan.step();
      if (index !== undefined) return index === false ? undefined : index;
    }
  } finally {
    scan.release();
  }
}

/** The index as `scanJson` and the simple builder make it; undefined if the text is refused. */
function scanSimply(bytes: Buffer, limits: JsonLimits): JsonIndex | undefined {
  try {
    scanJson(bytes, limits);
  } catch (error) {
    assert.ok(error instanceof JsonProblemError, String(error));
    return undefined;
  }
  return indexScanned(bytes);
}

/** Asserts that both scanners accept the text or neither does, and that all nodes are equal. True if it is accepted. */
export function compareScanners(bytes: Buffer, limits: JsonLimits, windowBytes: number | undefined): boolean {
  const wanted = scanSimply(bytes, limits);
  const got = scanInWindows(bytes, limits, windowBytes);
  const text = `${bytes.toString('latin1', 0, 300)} in windows of ${windowBytes}`;
  assert.equal(got !== undefined, wanted !== undefined, `${wanted === undefined ? 'refused' : 'accepted'} by scanJson: ${text}`);
  if (wanted === undefined || got === undefined) return false;
  assert.equal(got.count, wanted.count, text);
  for (let node = 0; node < wanted.count; node++) assert.deepEqual(fieldsOf(got, node), fieldsOf(wanted, node), `node ${node}: ${text}`);
  return true;
}

function fieldsOf(index: JsonIndex, node: number): readonly unknown[] {
  return [
    index.kind(node),
    index.hasEscapes(node),
    index.start(node),
    index.end(node),
    index.next(node),
    index.size(node),
    index.isAscii(node),
  ];
}

const parts = [
  'a',
  'é',
  '😀',
  '€',
  '\\n',
  '\\"',
  '\\\\',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud800',
  ' ',
  'xyz'.repeat(7),
  '\u007f',
  '/',
  '\\/',
];
const longPart = 'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(4);
const numbers = ['0', '-0', '1.5', '0.1e+5', '-12E-3', '1e5', '123456789012345678901234567890'];
const words = ['true', 'false', 'null'];
const damages = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '-',
  '.',
  'e',
  't',
  ' ',
  '\n',
  '\u0001',
  'é',
  '\\u00',
  'true',
  '\0',
  '"a":1,',
];

/** Makes texts that are like JSON, about half of them valid. Equal seeds make equal texts. */
export class TextMaker {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A text, its limits, and the size of windows, which is small in most cases. */
  next(): { readonly bytes: Buffer; readonly limits: JsonLimits; readonly windowBytes: number | undefined } {
    let bytes: Buffer = Buffer.from(this.#space() + this.#value(4) + this.#space());
    for (let edits = this.#below(3); edits > 0; edits--) bytes = this.#damage(bytes);
    if (this.#below(10) === 0) bytes = bytes.subarray(0, this.#below(bytes.length + 1));
    const limits = {
      ...(this.#below(20) === 0 && { depthMax: this.#below(4) }),
      ...(this.#below(20) === 0 && { tokensMax: this.#below(30) }),
    };
    return { bytes, limits, windowBytes: [undefined, 1 + this.#below(7), 1 + this.#below(100), 16][this.#below(4)] };
  }

  /** A whole number from zero, less than `limit`. */
  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick(texts: readonly string[]): string {
    return texts[this.#below(texts.length)] ?? '';
  }

  #space(): string {
    return this.#below(6) > 0 ? '' : ' \n\t\r'.repeat(1 + this.#below(3)).slice(this.#below(4));
  }

  #string(partsMax: number): string {
    const text = Array.from({ length: this.#below(partsMax) }, () => (this.#below(12) === 0 ? longPart : this.#pick(parts)));
    return `"${text.join('')}"`;
  }

  #value(depth: number): string {
    switch (this.#below(depth > 0 ? 8 : 5)) {
      case 0:
        return this.#pick(numbers);
      case 1:
        return this.#pick(words);
      case 2:
      case 3:
      case 4:
        return this.#string(this.#below(4) > 0 ? 4 : 40);
      case 5:
        return `[${this.#items(this.#below(6), () => this.#value(depth - 1))}]`;
      default:
        return this.#object(depth);
    }
  }

  #object(depth: number): string {
    const isLarge = this.#below(8) === 0;
    const inner = isLarge ? 0 : depth - 1;
    let number = 0;
    const member = (): string => {
      const name = this.#below(3) > 0 ? `"k${isLarge ? number++ : this.#below(30)}"` : this.#string(3);
      return `${name}${this.#space()}:${this.#space()}${this.#value(inner)}`;
    };
    return `{${this.#items(isLarge ? 30 + this.#below(60) : this.#below(6), member)}}`;
  }

  #items(count: number, make: () => string): string {
    return this.#space() + Array.from({ length: count }, () => this.#space() + make() + this.#space()).join(',');
  }

  #damage(bytes: Buffer): Buffer {
    const at = this.#below(bytes.length + 1);
    const kinds = [Buffer.from(this.#pick(damages)), Buffer.from([this.#below(256)]), Buffer.alloc(0)];
    return Buffer.concat([bytes.subarray(0, at), kinds[this.#below(3)] ?? Buffer.alloc(0), bytes.subarray(at + this.#below(4))]);
  }
}
