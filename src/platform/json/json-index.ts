import { textOf } from './json-readers.ts';
import type { JsonValue } from './json-value.ts';
import { parseJson } from './parse-json.ts';

/** What a node of an index is. `key` is the key of the member whose value is the next node. */
export const jsonKind = { object: 0, array: 1, string: 2, number: 3, true: 4, false: 5, null: 6, key: 7 } as const;

/** The bits of a node's first integer beside its kind, which only strings and keys have. */
const jsonFlag = { escapes: 8, nonAscii: 16 } as const;

/** The integers of a node, in this order. */
export const jsonField = { kindAndFlags: 0, start: 1, end: 2, next: 3, size: 4 } as const;

/** Integers per node. */
export const jsonNodeInts = 5;

const kindMask = 7;
const backslash = 0x5c;

/** A node that does not exist. */
export const noNode = -1;

/**
 * The structure of a JSON text that was checked: one node for each value and key, in the order of the text. Nodes are
 * numbers from 0, which is the root. Nothing is decoded until it is read.
 *
 * The children of a container follow it. In an object they alternate: a key, then its value. Visit them so:
 *
 *     for (let item = index.first(list), end = index.next(list); item < end; item = index.next(item))
 *     for (let key = index.first(object), end = index.next(object); key < end; key = index.next(key + 1))
 */
export class JsonIndex {
  /** The text. Read it by the methods below: a large text may be kept in pieces. */
  readonly bytes: Buffer;
  /** The number of nodes. */
  readonly count: number;
  readonly #nodes: Int32Array;

  /** @param nodes `jsonNodeInts` integers per node; it may be longer */
  constructor(bytes: Buffer, nodes: Int32Array, count: number) {
    this.bytes = bytes;
    this.count = count;
    this.#nodes = nodes;
  }

  /**
   * The memory of the nodes, unless other indexes share it. If it is freed, nothing may read the index any more; a late
   * reader finds nothing.
   */
  get memory(): ArrayBufferLike | undefined {
    const { buffer, byteLength } = this.#nodes;
    return byteLength === buffer.byteLength ? buffer : undefined;
  }

  /** One of `jsonKind`. */
  kind(node: number): number {
    return (this.#nodes[node * jsonNodeInts] ?? 0) & kindMask;
  }

  /** The position of the first byte; of a string or key that of its quote. */
  start(node: number): number {
    return this.#nodes[node * jsonNodeInts + jsonField.start] ?? 0;
  }

  /** The position after the last byte. */
  end(node: number): number {
    return this.#nodes[node * jsonNodeInts + jsonField.end] ?? 0;
  }

  /** The first node after this one and everything inside it; of a key, its value. */
  next(node: number): number {
    return this.#nodes[node * jsonNodeInts + jsonField.next] ?? 0;
  }

  /**
   * The characters of a string or key when decoded, in UTF-16 units as `length` of a string counts them; the members of
   * an object; the items of an array. Zero for the rest.
   */
  size(node: number): number {
    return this.#nodes[node * jsonNodeInts + jsonField.size] ?? 0;
  }

  /** Whether the string or key has escapes. */
  hasEscapes(node: number): boolean {
    return ((this.#nodes[node * jsonNodeInts] ?? 0) & jsonFlag.escapes) !== 0;
  }

  /** Whether the bytes of the string or key are ASCII; escapes may stand for other characters. */
  isAscii(node: number): boolean {
    return ((this.#nodes[node * jsonNodeInts] ?? 0) & jsonFlag.nonAscii) === 0;
  }

  /** The first key or item of a container. It equals `next(container)` if the container is empty. */
  first(container: number): number {
    return container + 1;
  }

  /** The value of a member, or `noNode` if there is none, also if `object` is another value or `noNode`. */
  find(object: number, name: string): number {
    if (object === noNode || this.kind(object) !== jsonKind.object) return noNode;
    const end = this.next(object);
    for (let key = object + 1; key < end; key = this.next(key + 1)) {
      if (this.textIs(key, name)) return key + 1;
    }
    return noNode;
  }

  /** Whether the decoded text of a string or key is this one. */
  textIs(node: number, text: string): boolean {
    if (this.size(node) !== text.length) return false;
    const flags = this.#nodes[node * jsonNodeInts] ?? 0;
    if ((flags & (jsonFlag.escapes | jsonFlag.nonAscii)) !== 0) return this.#decode(node) === text;
    const from = this.start(node) + 1;
    for (let at = 0; at < text.length; at++) if (this.bytes[from + at] !== text.charCodeAt(at)) return false;
    return true;
  }

  /** The text of a string or key; undefined for other nodes and for `noNode`. */
  text(node: number): string | undefined {
    if (node === noNode) return undefined;
    const kind = this.kind(node);
    return kind === jsonKind.string || kind === jsonKind.key ? this.#decode(node) : undefined;
  }

  /** The number; undefined for other nodes and for `noNode`. As JSON.parse reads it, so it may be infinite. */
  number(node: number): number | undefined {
    if (node === noNode || this.kind(node) !== jsonKind.number) return undefined;
    return Number(this.bytes.toString('latin1', this.start(node), this.end(node)));
  }

  /** The boolean; undefined for other nodes and for `noNode`. */
  boolean(node: number): boolean | undefined {
    if (node === noNode) return undefined;
    const kind = this.kind(node);
    if (kind === jsonKind.true) return true;
    return kind === jsonKind.false ? false : undefined;
  }

  /** The value of a node as `parseJson` makes it; of a key, its text. */
  materialize(node: number): JsonValue {
    switch (this.kind(node)) {
      case jsonKind.string:
      case jsonKind.key:
        return this.#decode(node);
      case jsonKind.true:
        return true;
      case jsonKind.false:
        return false;
      case jsonKind.null:
        return null;
      default:
        return parseJson(this.bytes.toString('utf8', this.start(node), this.end(node)));
    }
  }

  #decode(node: number): string {
    const flags = this.#nodes[node * jsonNodeInts] ?? 0;
    const start = this.start(node);
    const end = this.end(node);
    if ((flags & jsonFlag.escapes) !== 0) return textOf(parseJson(this.bytes.toString('utf8', start, end))) ?? '';
    if ((flags & jsonFlag.nonAscii) !== 0) return this.bytes.toString('utf8', start + 1, end - 1);
    return this.bytes.toString('latin1', start + 1, end - 1);
  }
}

/** The UTF-16 units of a string when decoded, and its flags. `start` and `end` are inside of its quotes. */
export function measureText(bytes: Buffer, start: number, end: number): { readonly size: number; readonly flags: number } {
  let size = 0;
  let flags = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === backslash) {
      flags |= jsonFlag.escapes;
      at += bytes[at + 1] === 0x75 ? 5 : 1;
    } else if (byte >= 0x80) {
      flags |= jsonFlag.nonAscii;
      // Bytes that continue a character are not counted; four bytes are a pair of surrogates.
      if (byte < 0xc0) continue;
      if (byte >= 0xf0) size++;
    }
    size++;
  }
  return { size, flags };
}
