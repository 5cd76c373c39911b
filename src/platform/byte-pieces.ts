/** Bytes that lie in several places of memory, in their order. Nothing is copied until somebody joins them. */
export class BytePieces {
  readonly pieces: readonly Buffer[];
  /** Bytes of all pieces together. */
  readonly length: number;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** A copy of all bytes in one piece of memory. */
  join(): Buffer {
    return Buffer.concat(this.pieces, this.length);
  }

  toString(): string {
    return this.join().toString();
  }
}

/** Bytes in one place or in several. */
export type Bytes = Buffer | BytePieces;

/** The pieces of bytes in their order. */
export function piecesOf(bytes: Bytes): readonly Buffer[] {
  return bytes instanceof BytePieces ? bytes.pieces : [bytes];
}

/** The bytes in one place: a copy only if they were in several. */
export function joinBytes(bytes: Bytes): Buffer {
  return bytes instanceof BytePieces ? bytes.join() : bytes;
}
