import { type Bytes, piecesOf } from '../byte-pieces.ts';

/**
 * Memory that is freed as soon as it is not needed, instead of at a garbage collection. V8 counts the memory of buffers
 * and collects the whole heap for every 64 MB of it. With bodies of 5 MB that took half of the processor time.
 *
 * Only memory that one body has for itself is registered, and the body is used only by its call, which frees it. While
 * a connection sends it, it is lent, and is freed at the end of that. A view of freed memory has the length 0, so a
 * late reader can never see the bytes of another call.
 */
type Lease = { borrowers: number; isFree: boolean; readonly companions: ArrayBufferLike[] };

const leases = new WeakMap<ArrayBufferLike, Lease>();

/** Smaller memory is left to the collector: it takes 1,000 such bodies to make one collection due. */
const smallestBytes = 32 * 1024;

/** Registers the memory of a body, if the body has it for itself. Nothing else may use it, now or later. */
export function ownMemory(bytes: Buffer): Buffer {
  const { buffer } = bytes;
  if (bytes.length > smallestBytes && isWhole(bytes)) leases.set(buffer, { borrowers: 0, isFree: false, companions: [] });
  return bytes;
}

/**
 * Frees other memory together with that of a registered body, such as its index. Nothing uses it without the body.
 * @param other undefined if the body has none for itself
 */
export function freeTogether(body: Buffer, other: ArrayBufferLike | undefined): void {
  if (other !== undefined) leases.get(body.buffer)?.companions.push(other);
}

/**
 * Keeps registered memory while the system reads it. Returns the function that ends this, to be called once; undefined
 * if none of the memory is registered.
 */
export function lendMemory(bytes: Bytes): (() => void) | undefined {
  let lent: Map<ArrayBufferLike, Lease> | undefined;
  for (const { buffer } of piecesOf(bytes)) {
    const lease = leases.get(buffer);
    if (lease !== undefined) (lent ??= new Map()).set(buffer, lease);
  }
  if (lent === undefined) return undefined;
  const all = lent;
  for (const lease of all.values()) lease.borrowers += 1;
  return () => {
    for (const [buffer, lease] of all) {
      lease.borrowers -= 1;
      if (lease.isFree && lease.borrowers === 0) discard(buffer);
    }
  };
}

/**
 * Frees registered memory, at once or when it is no longer lent. Its views are empty then. Call it after the request
 * has been sent or has failed: a request that waits for its connection does not lend its body yet.
 */
export function freeMemory(bytes: Buffer): void {
  const lease = leases.get(bytes.buffer);
  if (lease === undefined || lease.isFree) return;
  lease.isFree = true;
  if (lease.borrowers === 0) discard(bytes.buffer);
}

/** Frees memory that was never registered or lent, for example that of a piece after it was copied. */
export function freePiece(piece: Buffer): void {
  if (isWhole(piece)) discard(piece.buffer);
}

/** Other buffers may lie in the same memory, such as those of Node's pool. */
function isWhole({ buffer, length }: Buffer): boolean {
  return buffer.byteLength === length;
}

/** Node 20 cannot free memory, and leaves it to the collector. */
const canFree = 'transfer' in ArrayBuffer.prototype;

function discard(buffer: ArrayBufferLike): void {
  const companions = leases.get(buffer)?.companions;
  leases.delete(buffer);
  if (companions !== undefined) for (const companion of companions) discard(companion);
  // Moving the memory to a new buffer without bytes frees it.
  if (canFree && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
