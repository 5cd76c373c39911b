import type { ChunkStore } from '../../tools/file-search/file-store.ts';
import { StoreError } from '../store-error.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';

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
  let opened: Promise<WorkerStore> | undefined;
  let isClosed = false;
  const connect = async (): Promise<WorkerStore> => {
    if (isClosed) throw new StoreError('unavailable', 'The store is closed.');
    const opening = (opened ??= open());
    try {
      const store = await opening;
      if (store.failureReason() === undefined) return store;
    } catch (error) {
      if (opened === opening) opened = undefined;
      throw error;
    }
    // The thread has died. The first search that notices starts the next one.
    if (opened === opening) opened = undefined;
    return await connect();
  };
  return {
    searchChunks: async (query) => (await connect()).searchChunks(query),
    close: () => {
      isClosed = true;
      return opened?.catch(() => undefined).then((store) => store?.close());
    },
  };
}
