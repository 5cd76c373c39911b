import type { ClientReply } from '../../../replies/client-reply.ts';

/** How a client's reading ended the sending of a file. */
export type ContentEnd = 'sent' | 'left' | 'stalled' | 'short';

export type ContentPace = {
  /** How long a client may leave sent bytes unread, in milliseconds. */
  readonly stalledReaderMs: number;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
};

/**
 * Sends pieces as fast as a client takes them. Nothing is read from the source while the client does not read, so that a slow one costs no memory. A
 * source that ends too early leaves the reply cut off, never looking whole. Rejects with what the source throws; the connection is broken off then.
 * @param bytes how many the client was promised
 */
export async function writeContent(
  reply: Pick<ClientReply, 'write' | 'end' | 'destroy' | 'destroyed'> & DrainSource,
  source: AsyncIterable<Uint8Array>,
  bytes: number,
  pace: ContentPace,
): Promise<ContentEnd> {
  let left = bytes;
  try {
    for await (const piece of source) {
      if (pace.signal.aborted || reply.destroyed) return 'left';
      // More than was promised would be taken for the next reply on the connection.
      const fitting = piece.length > left ? piece.subarray(0, left) : piece;
      left -= fitting.length;
      if (fitting.length > 0 && !reply.write(toBuffer(fitting)) && !(await drained(reply, pace))) {
        reply.destroy();
        return pace.signal.aborted ? 'left' : 'stalled';
      }
      if (left === 0) break;
    }
  } catch (error) {
    reply.destroy();
    if (pace.signal.aborted) return 'left';
    throw error;
  }
  if (left > 0) {
    reply.destroy();
    return pace.signal.aborted ? 'left' : 'short';
  }
  reply.end();
  return 'sent';
}

type DrainSource = {
  readonly once: (event: 'drain', listener: () => void) => unknown;
  readonly off: (event: 'drain', listener: () => void) => unknown;
};

function toBuffer(piece: Uint8Array): Buffer {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}

/** Whether the client reads on in time. A file has a hundred thousand pieces: nothing may stay behind after a wait. */
export function drained(reply: DrainSource, { stalledReaderMs, signal }: ContentPace): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (reads: boolean): void => {
      clearTimeout(timer);
      reply.off('drain', onDrain);
      signal.removeEventListener('abort', onLeft);
      resolve(reads);
    };
    const onDrain = (): void => settle(true);
    const onLeft = (): void => settle(false);
    const timer = setTimeout(onLeft, stalledReaderMs);
    reply.once('drain', onDrain);
    signal.addEventListener('abort', onLeft, { once: true });
  });
}
