import type { Store } from '../../../store/store.ts';
import { StoreError } from '../../../store/store-error.ts';

/** Asks the other workers to write their pending rows to the store. Resolves with whether all did. Never rejects. */
export type BroadcastToWorkers = (topic: 'ship-journal' | 'write-proofs') => Promise<boolean>;

/**
 * The store as a worker reads it. Rows of a worker are in its memory until they are written, so another worker may not
 * find them in the store. Therefore a row that is not found is read a second time, after the other workers have written
 * theirs. Existing rows cost nothing extra.
 */
export function shareStore(store: Store, askOthers: BroadcastToWorkers): Store {
  return {
    ...store,
    findReplyOwner: async (replyId) => {
      const owner = await store.findReplyOwner(replyId);
      if (owner !== undefined) return owner;
      const complete = await askOthers('ship-journal');
      const shipped = await store.findReplyOwner(replyId);
      // A worker may have died with the row in its journal. Until that is recovered, the reply may exist.
      if (shipped === undefined && !complete) throw new StoreError('unavailable', 'Not all workers could say what they hold.');
      return shipped;
    },
    findProofs: async (query) => {
      const proofs = await store.findProofs(query);
      if (proofs.length >= query.lookups.length) return proofs;
      await askOthers('write-proofs');
      return await store.findProofs(query);
    },
  };
}

/** Runs `ask` once at a time. A caller during a run gets the result of the next run, which begins after the call. */
export function createCoalesced<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const start = (): Promise<Result> => {
    next = undefined;
    const run = ask().finally(() => {
      if (running === run) running = undefined;
    });
    running = run;
    return run;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
