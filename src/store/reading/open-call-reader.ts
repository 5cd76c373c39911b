import type { CallFactsStore } from '../../billing/calls/call-facts-store.ts';
import { NameReader } from '../operations/facts/name-reader.ts';
import { scanCalls } from '../operations/facts/scan-calls.ts';
import { openReading, type ReadDatabase } from './open-reading.ts';

export type CallReader = Pick<CallFactsStore, 'scanCalls'> & { readonly close: () => Promise<void> };

/** Lists of calls on a connection of the calling thread. Throws StoreError. */
export function openCallReader(options: ReadDatabase): CallReader {
  const names = new NameReader();
  const { database, close } = openReading(options);
  return { scanCalls: (scan) => scanCalls(database, names, scan), close };
}
