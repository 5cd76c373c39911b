/** Integers of a pool: 64 KB. */
const poolInts = 16_384;
/** Longer copies have a buffer of their own. */
const copyIntsMax = 1024;

let pool = new Int32Array(poolInts);
let taken = 0;

/**
 * A copy of integers that live as long as a request. Short ones share a buffer, which is freed when none of them is
 * used any more. A buffer of its own would cost more than the copy: it is allocated, listed and freed outside the heap.
 * Nothing else may free the buffer of a copy that is shorter than it.
 */
export function copyInts(ints: Int32Array): Int32Array<ArrayBuffer> {
  if (ints.length > copyIntsMax) return ints.slice();
  if (taken + ints.length > poolInts) {
    pool = new Int32Array(poolInts);
    taken = 0;
  }
  const copy = pool.subarray(taken, (taken += ints.length));
  copy.set(ints);
  return copy;
}

/** Makes room for more integers, in place if possible. The former array must not be used any more. */
export function growInts(ints: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  // Mostly grows the memory in place. The memory before it would wait for the collector.
  if (ints.buffer.byteLength === ints.byteLength) return new Int32Array(ints.buffer.transfer(length * Int32Array.BYTES_PER_ELEMENT));
  const longer = new Int32Array(length);
  longer.set(ints);
  return longer;
}
