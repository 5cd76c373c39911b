import type { ClientReply } from '../../../replies/client-reply.ts';

/** How the transfer of a file ended. */
export type ContentEnd = 'sent' | 'left' | 'stalled' | 'short';

export type ContentPace = {
  /** How long a client may leave sent bytes unread, in milliseconds. */
  readonly stalledReaderMs: number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/**
 * Sends pieces at the pace of the client. Nothing is read from the source while the client does not read, so that a
 * slow client costs no memory. If the source ends too early, the reply is cut off and never looks complete. Rejects
 * with the error of the source after the connection was destroyed.
 * @param bytes the announced length
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
      // Extra bytes would become part of the next reply on the connection.
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

/**
 * Whether the client reads again in time. A file has many thousands of pieces, so a wait must leave no listener behind.
 */
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
