import type { CallFactsStore } from './call-facts-store.ts';
import { type CallExport, exportCalls, exportCallsWorkbook } from './export-calls.ts';

/** An export that is asked for. It can be sent to another thread. */
export type AskedCallExport = Omit<CallExport, 'format'> & {
  readonly format: CallExport['format'] | 'xlsx';
  /** Its time, which a workbook has in its properties. */
  readonly nowMs: number;
};

/** As many exports as there may be at a time are being made. */
export class TooManyExportsError extends Error {
  constructor(most: number) {
    super(`${most} exports of calls are being made, which is the most; ask again when one has ended.`);
    this.name = 'TooManyExportsError';
  }
}

/** Makes exports of calls, in this thread or in another. */
export type CallExports = {
  /**
   * Begins an export. Bytes are made no faster than they are read; a reader that stops must return the iterator. A
   * failure rejects, so that no part looks like the whole.
   * @param signal ends the export at any time
   * @throws TooManyExportsError, and StatisticsUnavailableError if the store does not answer
   */
  readonly open: (asked: AskedCallExport, signal: AbortSignal) => Promise<AsyncIterator<Uint8Array<ArrayBuffer>>>;
};

/** Makes exports in this thread. */
export function createCallExports(store: Pick<CallFactsStore, 'scanCalls'>): CallExports {
  return { open: async (asked, signal) => writeBytes(writePieces(store, asked, signal)) };
}

function writePieces(
  store: Pick<CallFactsStore, 'scanCalls'>,
  { format, filter, scope, nowMs }: AskedCallExport,
  signal: AbortSignal,
): AsyncIterable<string | Uint8Array> {
  if (format === 'xlsx') return exportCallsWorkbook(store, { filter, scope }, { signal, nowMs });
  return exportCalls(store, { filter, scope, format }, signal);
}

async function* writeBytes(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  const encoder = new TextEncoder();
  // Each has a buffer of its own, which can be given to another thread.
  for await (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : new Uint8Array(piece);
}
