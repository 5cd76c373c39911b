import type { Writable } from 'node:stream';

/**
 * Writes texts to an output that stays open, no faster than they are read. A reader who has seen enough, such as head, is no failure: then no further text is asked for.
 * Rejects with what else the output fails with, and with what the texts reject with.
 */
export async function printTexts(output: Writable, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const left = Promise.withResolvers<void>();
  let isLeft = false;
  let failure: NodeJS.ErrnoException | undefined;
  const leave = (error?: NodeJS.ErrnoException): void => {
    isLeft = true;
    failure ??= error;
    left.resolve();
  };
  // For good: what was written last may fail after everything was handed over.
  output.on('error', leave);
  output.once('close', () => leave());
  for await (const text of texts) {
    if (isLeft) break;
    if (output.write(text)) continue;
    const drained = Promise.withResolvers<void>();
    output.once('drain', drained.resolve);
    // No `events.once`: it rejects with the error of a reader who has left.
    await Promise.race([drained.promise, left.promise]);
    output.off('drain', drained.resolve);
  }
  if (failure !== undefined && failure.code !== 'EPIPE') throw failure;
}
