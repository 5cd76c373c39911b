/**
 * Memory for encoded entries that wait for the store. They are many, small, and outlive several collections of the
 * young heap. In buffers of their own they would be copied to the old heap together with their pool, and cause full
 * collections.
 */
export type EntryMemory = {
  /**
   * Stores texts joined in UTF-8. The bytes are valid until `release`. Joining them first would copy them once more.
   */
  readonly keep: (...texts: readonly string[]) => Buffer;
  /** Releases the result of `keep`. Once for each. */
  readonly release: (bytes: Buffer) => void;
};

type Chunk = { readonly bytes: Buffer; length: number; uses: number };

const chunkBytes = 256 * 1024;
/** Unused chunks that are kept for reuse: as many as wait at full load. */
const sparesMax = 8;

export function createEntryMemory(): EntryMemory {
  const chunks = new Map<ArrayBufferLike, Chunk>();
  const spares: Buffer[] = [];
  let current: Chunk | undefined;

  const isDone = (chunk: Chunk): boolean => chunk.uses === 0 && chunk !== current;
  const drop = (chunk: Chunk): void => {
    chunks.delete(chunk.bytes.buffer);
    if (spares.length < sparesMax) spares.push(chunk.bytes);
  };
  const next = (): Chunk => {
    const full = current;
    const bytes = spares.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
    current = { bytes, length: 0, uses: 0 };
    chunks.set(bytes.buffer, current);
    if (full !== undefined && isDone(full)) drop(full);
    return current;
  };
  return {
    keep: (...texts) => {
      let bound = 0;
      // An upper limit: a UTF-16 unit has at most three bytes.
      for (const text of texts) bound += text.length * 3;
      if (bound > chunkBytes) return Buffer.from(texts.join(''));
      const chunk = current !== undefined && current.length + bound <= chunkBytes ? current : next();
      const start = chunk.length;
      for (const text of texts) chunk.length += chunk.bytes.write(text, chunk.length, 'utf8');
      chunk.uses += 1;
      return chunk.bytes.subarray(start, chunk.length);
    },
    release: ({ buffer }) => {
      const chunk = chunks.get(buffer);
      if (chunk === undefined) return;
      chunk.uses -= 1;
      if (isDone(chunk)) drop(chunk);
    },
  };
}
