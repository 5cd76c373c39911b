/**
 * Memory for encoded entries that wait for the store. They are many, small and wait for several collections of the young heap: as buffers of their own
 * they would be copied to the old heap, with all the pool memory that they lie in, and be what makes full collections necessary.
 */
export type EntryMemory = {
  /** Keeps two texts end to end in UTF-8. The bytes stay until `release`. Joined before, they would be copied once more. */
  readonly keep: (head: string, text: string) => Buffer;
  /** Gives back what `keep` returned. Once for each. */
  readonly release: (bytes: Buffer) => void;
};

type Chunk = { readonly bytes: Buffer; length: number; kept: number };

const chunkBytes = 256 * 1024;
/** Chunks kept for reuse: what waits at full load. */
const sparesMax = 8;

export function createEntryMemory(): EntryMemory {
  const chunks = new Map<ArrayBufferLike, Chunk>();
  const spares: Buffer[] = [];
  let current: Chunk | undefined;

  const isDone = (chunk: Chunk): boolean => chunk.kept === 0 && chunk !== current;
  const drop = (chunk: Chunk): void => {
    chunks.delete(chunk.bytes.buffer);
    if (spares.length < sparesMax) spares.push(chunk.bytes);
  };
  const next = (): Chunk => {
    const full = current;
    const bytes = spares.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
    current = { bytes, length: 0, kept: 0 };
    chunks.set(bytes.buffer, current);
    if (full !== undefined && isDone(full)) drop(full);
    return current;
  };
  return {
    keep: (head, text) => {
      // An upper bound of its bytes: a character of JavaScript takes three at most.
      const bound = (head.length + text.length) * 3;
      if (bound > chunkBytes) return Buffer.from(head + text);
      const chunk = current !== undefined && current.length + bound <= chunkBytes ? current : next();
      const start = chunk.length;
      chunk.length += chunk.bytes.write(head, start, 'utf8');
      chunk.length += chunk.bytes.write(text, chunk.length, 'utf8');
      chunk.kept += 1;
      return chunk.bytes.subarray(start, chunk.length);
    },
    release: ({ buffer }) => {
      const chunk = chunks.get(buffer);
      if (chunk === undefined) return;
      chunk.kept -= 1;
      if (isDone(chunk)) drop(chunk);
    },
  };
}
