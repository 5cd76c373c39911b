import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What the scanner has: see json-scanner.as, from which it is compiled. */
type ScannerExports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly INPUT: { readonly value: number };
  readonly INPUT_BYTES: { readonly value: number };
  readonly NODES: { readonly value: number };
  readonly PATCHES: { readonly value: number };
  readonly seed: (first: bigint, second: bigint) => void;
  readonly begin: (depthMax: number, tokensMax: number) => void;
  readonly scan: (length: number, isLast: number) => number;
  readonly take: () => void;
  readonly getConsumed: () => number;
  readonly getCount: () => number;
  readonly getPatches: () => number;
  readonly getNonAscii: () => number;
};

/** The part of the global that is used; the types of Node do not have it. */
type Engine = {
  readonly Module: new (binary: Buffer) => object;
  readonly Instance: new (module: object) => { readonly exports: ScannerExports };
};

/** The answers of `scan`: the window is read, its nodes are full, the text is correct, or it may not be. */
export const scanAnswer = { more: 0, nodesFull: 1, clean: 2, notClean: 3 } as const;

/** Instances that are kept for later texts. More exist only while large texts are scanned in turns. */
const idleMax = 4;

/** A scanner in WebAssembly, with a memory of its own that does not grow with the text. */
export class ScannerInstance {
  static #module: object | undefined;
  static readonly #idle: ScannerInstance[] = [];

  readonly calls: ScannerExports;
  /** The memory, by bytes and by integers. They change when it grows. */
  bytes: Uint8Array;
  ints: Int32Array;
  readonly inputAt: number;
  readonly inputBytes: number;
  /** Indexes of `ints`. */
  readonly nodesAt: number;
  readonly patchesAt: number;

  private constructor(engine: Engine, module: object) {
    this.calls = new engine.Instance(module).exports;
    this.bytes = new Uint8Array(this.calls.memory.buffer);
    this.ints = new Int32Array(this.calls.memory.buffer);
    this.inputAt = this.calls.INPUT.value;
    this.inputBytes = this.calls.INPUT_BYTES.value;
    this.nodesAt = this.calls.NODES.value >> 2;
    this.patchesAt = this.calls.PATCHES.value >> 2;
    // No client can choose keys with equal hashes.
    const seed = randomBytes(16);
    this.calls.seed(seed.readBigInt64LE(0), seed.readBigInt64LE(8));
  }

  /** An instance that nobody uses. */
  static take(): ScannerInstance {
    const idle = ScannerInstance.#idle.pop();
    if (idle !== undefined) return idle;
    const { WebAssembly: engine } = globalThis as unknown as { readonly WebAssembly: Engine };
    ScannerInstance.#module ??= new engine.Module(readFileSync(new URL('json-scanner.wasm', import.meta.url)));
    return new ScannerInstance(engine, ScannerInstance.#module);
  }

  /** Gives the instance back. Its user must not use it again. */
  release(): void {
    if (ScannerInstance.#idle.length < idleMax) ScannerInstance.#idle.push(this);
  }

  /** To be called after each scan, which may have made the memory larger. */
  refresh(): void {
    if (this.bytes.length > 0) return;
    this.bytes = new Uint8Array(this.calls.memory.buffer);
    this.ints = new Int32Array(this.calls.memory.buffer);
  }
}
