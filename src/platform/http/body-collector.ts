import { joinInSlices } from '../join-in-slices.ts';
import { freePiece, ownMemory } from './body-memory.ts';

/**
 * Pieces that are kept before they are joined. A body may arrive in one-byte chunks, and each takes a hundred bytes of
 * memory.
 */
const piecesMax = 4096;

/** Larger bodies are joined in steps. */
const largeBytes = 4 * 1024 * 1024;

/** Smaller bodies mostly arrive in one piece, and are joined at the end. */
const preparedBytesMin = 32 * 1024;
/** Memory for larger bodies is not taken before they have arrived. */
const preparedBytesMax = 16 * 1024 * 1024;
/**
 * The part of a body after which memory for all of it is taken. A client that declares much and sends nothing takes no
 * memory.
 */
const preparedShare = 1 / 8;

/**
 * Collects the pieces of a body into one buffer. If the length is declared, each piece is copied once, while the
 * processor still has it in its cache, into memory of that length.
 */
export class BodyCollector {
  /** Whether the pieces have memory of their own, which may be freed once they are copied. */
  ownsPieces = false;
  /** Bytes collected so far. */
  length = 0;
  readonly #declared: number;
  #pieces: Buffer[] = [];
  #joined: Buffer[] = [];
  /** The memory for the whole body. */
  #whole: Buffer | undefined;

  /** @param declared the length that the client declared; 0 if it declared none */
  constructor(declared: number) {
    this.#declared = declared;
  }

  add(piece: Buffer): void {
    const at = this.length;
    this.length += piece.length;
    if (this.#whole !== undefined) return this.#copy(piece, at);
    this.#pieces.push(piece);
    if (this.#isWorthPreparing()) this.#prepare();
    else if (this.#pieces.length >= piecesMax) this.#joinPieces();
  }

  /** The whole body. The collector, which stays as long as the request, does not keep it. */
  finish(): Buffer | Promise<Buffer> {
    const whole = this.#whole?.subarray(0, this.length);
    const pieces = this.#joined.length === 0 ? this.#pieces : [...this.#joined, ...this.#pieces];
    this.drop();
    if (whole !== undefined) return ownMemory(whole);
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined) return this.ownsPieces ? ownMemory(only) : only;
    if (this.length < largeBytes) return ownMemory(Buffer.concat(pieces, this.length));
    return joinInSlices(pieces, this.length).then(ownMemory);
  }

  /** Forgets what was collected. */
  drop(): void {
    this.#pieces = [];
    this.#joined = [];
    this.#whole = undefined;
  }

  #isWorthPreparing(): boolean {
    const declared = this.#declared;
    return declared > preparedBytesMin && declared <= preparedBytesMax && this.length < declared && this.length >= declared * preparedShare;
  }

  #prepare(): void {
    this.#whole = Buffer.allocUnsafeSlow(this.#declared);
    let at = 0;
    for (const piece of [...this.#joined, ...this.#pieces]) {
      const { length } = piece;
      this.#copy(piece, at);
      at += length;
    }
    this.#joined = [];
    this.#pieces = [];
  }

  #copy(piece: Buffer, at: number): void {
    this.#whole?.set(piece, at);
    if (this.ownsPieces) freePiece(piece);
  }

  #joinPieces(): void {
    this.#joined.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }
}
