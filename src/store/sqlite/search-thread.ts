import type { ChunkStore } from '../../tools/file-search/file-store.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';
import { createStoreOnDemand } from '../worker/store-on-demand.ts';

/** Searches on a thread of their own. */
type SearchThread = Pick<ChunkStore, 'searchChunks'> & {
  /** Undefined if there is nothing to close. Refuses every later search. */
  readonly close: () => Promise<void> | undefined;
};

/**
 * Runs searches on a thread and a connection of their own: a search reads every vector of a store, and a ledger entry
 * must not wait for that. The thread starts with the first search, because most gateways have none, and again with the
 * next search after it has died.
 * @param open opens the store again, for queries only
 */
export function createSearchThread(open: () => Promise<WorkerStore>): SearchThread {
  const { connect, close } = createStoreOnDemand(open);
  return { searchChunks: async (query) => (await connect()).searchChunks(query), close };
}
