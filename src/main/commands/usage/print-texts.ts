import type { Writable } from 'node:stream';

/**
 * Writes texts to an output that stays open, with back-pressure. If the reader closes the pipe, as `head` does, no
 * further text is produced and nothing is thrown.
 * @throws other errors of the output, and errors of the texts
 */
export async function printTexts(output: Writable, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let hasEnded = false;
  let failure: NodeJS.ErrnoException | undefined;
  const end = (error?: NodeJS.ErrnoException): void => {
    hasEnded = true;
    failure ??= error;
    ended.resolve();
  };
  // The listener stays: the last write may fail after this function has returned.
  output.on('error', end);
  output.once('close', () => end());
  for await (const text of texts) {
    if (hasEnded) break;
    if (output.write(text)) continue;
    const drained = Promise.withResolvers<void>();
    output.once('drain', drained.resolve);
    // Not `events.once`, which rejects if the reader has closed the pipe.
    await Promise.race([drained.promise, ended.promise]);
    output.off('drain', drained.resolve);
  }
  if (failure !== undefined && failure.code !== 'EPIPE') throw failure;
}

/** The texts of a streamed answer, whose pieces may end within a character. */
export async function* readTexts(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
}
