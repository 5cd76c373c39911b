import type { RecordedBody } from '../../content/records/recorded-call.ts';

/** The memory that all recordings of a process share. */
export class RecordingMemory {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes memory, if there is enough. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Bytes of one direction of a call, as far as they are kept: a copy of the first ones. The originals are freed or used
 * again by their owners.
 */
export class RecordedWire {
  readonly #memory: RecordingMemory;
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #kept = 0;
  #total = 0;
  #isCut = false;

  constructor(memory: RecordingMemory, bytesMax: number) {
    this.#memory = memory;
    this.#bytesMax = bytesMax;
  }

  /** Whether there was any byte. */
  get isEmpty(): boolean {
    return this.#total === 0;
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    if (this.#isCut || bytes.length === 0) return;
    const piece = bytes.subarray(0, this.#bytesMax - this.#kept);
    if (!this.#memory.take(piece.length)) {
      this.#isCut = true;
      return;
    }
    this.#pieces.push(Buffer.from(piece));
    this.#kept += piece.length;
    this.#isCut = piece.length < bytes.length;
  }

  /** Forgets everything. */
  clear(): void {
    this.#memory.release(this.#kept);
    this.#pieces = [];
    this.#kept = 0;
    this.#total = 0;
    this.#isCut = false;
  }

  /** The kept bytes in memory of their own, which can be transferred to a thread. */
  body(mediaType: string): RecordedBody {
    const bytes = new Uint8Array(this.#kept);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return { bytes, bytesTotal: this.#total, mediaType };
  }
}
