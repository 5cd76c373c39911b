import { isUtf8 } from 'node:buffer';

import { copyInts, growInts } from '../../int-pool.ts';
import { JsonIndex, jsonField, jsonNodeInts } from '../json-index.ts';
import { scanAnswer, ScannerInstance } from './scanner-module.ts';

/** Bytes that are put into the window at once; a window of this size stays in the cache of a core. */
export const windowBytesUsual = 65_536;

const patchInts = 4;

/** The scan of one text in WebAssembly. Call `release` in the end. */
export class TextScan {
  readonly #bytes: Buffer;
  readonly #scanner = ScannerInstance.take();
  readonly #windowBytes: number;
  /** The position of the scan. */
  #at = 0;
  #nodes: Int32Array<ArrayBuffer> = new Int32Array(0);
  #count = 0;
  /** Larger than usual while a key or a number is longer than a window. */
  #window: number;
  /** Whether a step is under way, or one threw. */
  #isInStep = false;

  constructor(
    bytes: Buffer,
    { depthMax, tokensMax }: { readonly depthMax: number; readonly tokensMax: number },
    windowBytes = windowBytesUsual,
  ) {
    this.#bytes = bytes;
    this.#windowBytes = windowBytes;
    this.#window = windowBytes;
    this.#scanner.calls.begin(depthMax, tokensMax);
  }

  /** Gives the scanner back for other texts. A scanner that threw is dropped, because its state is unknown. */
  release(): void {
    if (!this.#isInStep) this.#scanner.release();
  }

  /** Continues for one window. Undefined if the text continues after it; false if the text may not be correct. */
  step(): JsonIndex | false | undefined {
    this.#isInStep = true;
    const result = this.#scan();
    this.#isInStep = false;
    return result;
  }

  #scan(): JsonIndex | false | undefined {
    const scanner = this.#scanner;
    const { calls } = scanner;
    const bytes = this.#bytes;
    const start = this.#at;
    const end = Math.min(start + this.#window, bytes.length);
    const isLast = end === bytes.length;
    scanner.bytes.set(start === 0 && isLast ? bytes : bytes.subarray(start, end), scanner.inputAt);
    const answer = calls.scan(end - start, isLast ? 1 : 0);
    // First of all: the memory may have grown also for a text that is not clean, and other texts need it next.
    scanner.refresh();
    if (answer === scanAnswer.notClean) return false;
    this.#takeNodes();
    if (answer === scanAnswer.clean) return calls.getNonAscii() !== 0 && !isUtf8(bytes) ? false : this.#toIndex();
    if (isLast && answer === scanAnswer.more) return false;
    this.#at = start + calls.getConsumed();
    if (answer === scanAnswer.more && this.#at === start) {
      if (this.#window === scanner.inputBytes) return false;
      this.#window = Math.min(this.#window * 2, scanner.inputBytes);
    } else this.#window = this.#windowBytes;
    return undefined;
  }

  #takeNodes(): void {
    const { calls, ints, nodesAt, patchesAt } = this.#scanner;
    const before = this.#count;
    const count = calls.getCount();
    const end = nodesAt + (count - before) * jsonNodeInts;
    this.#count = count;
    if (before === 0) this.#nodes = copyInts(ints.subarray(nodesAt, end));
    else {
      const length = count * jsonNodeInts;
      if (length > this.#nodes.length) this.#nodes = growInts(this.#nodes, Math.max(length, this.#nodes.length * 2));
      this.#nodes.set(ints.subarray(nodesAt, end), before * jsonNodeInts);
    }
    for (let left = calls.getPatches(), at = patchesAt; left > 0; left--, at += patchInts) {
      const node = (ints[at] ?? 0) * jsonNodeInts;
      this.#nodes[node + jsonField.end] = ints[at + 1] ?? 0;
      this.#nodes[node + jsonField.next] = ints[at + 2] ?? 0;
      this.#nodes[node + jsonField.size] = ints[at + 3] ?? 0;
    }
    calls.take();
  }

  #toIndex(): JsonIndex {
    return new JsonIndex(this.#bytes, this.#nodes, this.#count);
  }
}
