import { JsonIndex, jsonField, jsonKind, jsonNodeInts, measureText } from '../json-index.ts';
import { skipString, skipValue, skipWhiteSpace } from '../skip-json.ts';

const quote = 0x22;
const comma = 0x2c;
const openArray = 0x5b;
const openObject = 0x7b;

/**
 * Makes the index of a text that `scanJson` has accepted. Only for texts that the scanner in WebAssembly leaves to
 * `scanJson`, and to compare with it.
 */
export function indexScanned(bytes: Buffer): JsonIndex {
  const nodes = new NodeList();
  /** The open containers, innermost last. */
  const open: number[] = [];
  let at = skipWhiteSpace(bytes, 0);
  for (;;) {
    const byte = bytes[at] ?? 0;
    const isKey = byte === quote && nodes.expectsKey(open.at(-1));
    if (byte === openObject || byte === openArray) {
      open.push(nodes.add(byte === openObject ? jsonKind.object : jsonKind.array, at, at));
      at = skipWhiteSpace(bytes, at + 1);
    } else if (byte === quote) {
      const end = skipString(bytes, at);
      const { size, flags } = measureText(bytes, at + 1, end - 1);
      nodes.add((isKey ? jsonKind.key : jsonKind.string) | flags, at, end, size);
      at = skipWhiteSpace(bytes, end);
    } else if (byte !== comma && byte !== openArray + 2 && byte !== openObject + 2) {
      const end = skipValue(bytes, at);
      nodes.add(scalarKind(byte), at, end);
      at = skipWhiteSpace(bytes, end);
    }
    if (isKey) {
      // After the colon.
      at = skipWhiteSpace(bytes, at + 1);
      continue;
    }
    while (bytes[at] === openArray + 2 || bytes[at] === openObject + 2) {
      nodes.close(open.pop() ?? 0, at + 1);
      at = skipWhiteSpace(bytes, at + 1);
    }
    if (open.length === 0) return nodes.toIndex(bytes);
    if (bytes[at] === comma) at = skipWhiteSpace(bytes, at + 1);
  }
}

function scalarKind(byte: number): number {
  if (byte === 0x74) return jsonKind.true;
  if (byte === 0x66) return jsonKind.false;
  return byte === 0x6e ? jsonKind.null : jsonKind.number;
}

class NodeList {
  #nodes = new Int32Array(64 * jsonNodeInts);
  #count = 0;

  /** Adds a node whose next node is the one that is added after it. */
  add(kindAndFlags: number, start: number, end: number, size = 0): number {
    const node = this.#count++;
    const at = node * jsonNodeInts;
    if (at === this.#nodes.length) {
      const longer = new Int32Array(this.#nodes.length * 2);
      longer.set(this.#nodes);
      this.#nodes = longer;
    }
    this.#nodes[at] = kindAndFlags;
    this.#nodes[at + jsonField.start] = start;
    this.#nodes[at + jsonField.end] = end;
    this.#nodes[at + jsonField.next] = this.#count;
    this.#nodes[at + jsonField.size] = size;
    return node;
  }

  /** Whether a string that is added now is a key of this open container. */
  expectsKey(container: number | undefined): boolean {
    if (container === undefined || this.#nodes[container * jsonNodeInts] !== jsonKind.object) return false;
    return (this.#nodes[(this.#count - 1) * jsonNodeInts] ?? 0) % 8 !== jsonKind.key;
  }

  close(container: number, end: number): void {
    const at = container * jsonNodeInts;
    this.#nodes[at + jsonField.end] = end;
    this.#nodes[at + jsonField.next] = this.#count;
    const keys = this.#nodes[at] === jsonKind.object ? 1 : 0;
    let size = 0;
    for (let child = container + 1; child < this.#count; size++) child = this.#nodes[(child + keys) * jsonNodeInts + jsonField.next] ?? 0;
    this.#nodes[at + jsonField.size] = size;
  }

  toIndex(bytes: Buffer): JsonIndex {
    return new JsonIndex(bytes, this.#nodes, this.#count);
  }
}
