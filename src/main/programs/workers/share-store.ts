import type { Store } from '../../../store/store.ts';
import { StoreError } from '../../../store/store-error.ts';

/** Asks the other workers to put into the store what they still hold. Resolves with whether all of them did. Never rejects. */
export type AskOthers = (topic: 'ship-journal' | 'write-proofs') => Promise<boolean>;

/**
 * The store as a worker reads it. A worker keeps what its calls made in memory until it is in the store; another that is asked for the same a moment later finds it nowhere. So what
 * the store does not have is looked for a second time, after the others have written what they hold. Only what is not there costs that.
 */
export function shareStore(store: Store, askOthers: AskOthers): Store {
  return {
    ...store,
    findReplyOwner: async (replyId) => {
      const owner = await store.findReplyOwner(replyId);
      if (owner !== undefined) return owner;
      const complete = await askOthers('ship-journal');
      const shipped = await store.findReplyOwner(replyId);
      // A worker may have died with the row in its journal: until that is recovered nobody can say that the reply is unknown.
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

/** Runs `ask` once at a time. Who comes while it runs gets the result of the next run, which begins after he came. */
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
