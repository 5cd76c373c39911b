import { StoreError } from '../store-error.ts';
import type { WorkerStore } from './connect-store-worker.ts';

/** A store whose thread starts with its first use. */
export type StoreOnDemand = {
  /** The open store. Rejects after `close`. */
  readonly connect: () => Promise<WorkerStore>;
  /** Undefined if there is nothing to close. */
  readonly close: () => Promise<void> | undefined;
};

/** Opens a store at its first use, and again at the next use after its thread has died. */
export function createStoreOnDemand(open: () => Promise<WorkerStore>): StoreOnDemand {
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
    // The thread has died. The first use that notices starts the next one.
    if (opened === opening) opened = undefined;
    return await connect();
  };
  return {
    connect,
    close: () => {
      isClosed = true;
      return opened?.catch(() => undefined).then((store) => store?.close());
    },
  };
}
