import { checkIntervalMs } from '../../../platform/http/deadlines.ts';

/** Opening frames kept back at most; Responses repeats the whole request in two of them. */
const heldBytesMax = 4 * 1024 * 1024;

/**
 * The frames that only open a reply. They are held until the reply says something, because until then another attempt can answer instead; but not for longer than the operator
 * allows, because a client of a model that thinks for long would see nothing.
 */
export class HeldOpening<Piece> {
  readonly #untilMs: number;
  readonly #sizeOf: (piece: Piece) => number;
  #parts: Piece[] | undefined = [];
  #bytes = 0;

  /** @param untilMs when they are let go at the latest */
  constructor(untilMs: number, sizeOf: (piece: Piece) => number) {
    this.#untilMs = untilMs;
    this.#sizeOf = sizeOf;
  }

  /** False once the reply has begun; then frames pass at once. */
  get isHeld(): boolean {
    return this.#parts !== undefined;
  }

  /** Adds to what is held. @returns whether there is room for more */
  add(parts: readonly Piece[]): boolean {
    for (const part of parts) this.#bytes += this.#sizeOf(part);
    this.#parts?.push(...parts);
    return this.#bytes <= heldBytesMax;
  }

  release(): readonly Piece[] {
    const parts = this.#parts ?? [];
    this.#parts = undefined;
    return parts;
  }

  /** Whether it is time: at the next check it would be too late. */
  isDue(nowMs: number): boolean {
    return this.#parts !== undefined && nowMs + checkIntervalMs > this.#untilMs;
  }
}
