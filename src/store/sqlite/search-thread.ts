import type { ChunkStore } from '../../tools/file-search/file-store.ts';
import { StoreError } from '../store-error.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';

/** What is searched on a thread of its own. */
type SearchThread = Pick<ChunkStore, 'searchChunks'> & {
  /** Undefined where there is nothing to close. Refuses every search from then on. */
  readonly close: () => Promise<void> | undefined;
};

/**
 * Searches on a thread and a connection of their own: a search reads every vector of a store, and a ledger entry must not wait for that. The thread is
 * started with the first search, because most gateways never see one, and anew with the next one when it has died.
 * @param open opens the store once more, for queries only
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
    // It has died since. Whoever sees that first starts the next one.
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
