import type { ProofStore, SealedProof } from '../../../../../inference/proof-store.ts';

/** A store in memory for tests. It counts its calls and can be made to fail or hang. */
export type FakeProofStore = ProofStore & {
  readonly rows: Map<string, SealedProof>;
  readonly calls: { put: number; find: number; sweep: number };
  mode: 'up' | 'down' | 'hanging';
  /** Called before each query is answered, to let something happen during it. */
  beforeFound: () => void;
};

export function createFakeProofStore(): FakeProofStore {
  const rows = new Map<string, SealedProof>();
  const store: FakeProofStore = {
    rows,
    calls: { put: 0, find: 0, sweep: 0 },
    mode: 'up',
    beforeFound: () => {},
    putProofs: async (proofs) => {
      store.calls.put += 1;
      await answer();
      for (const proof of proofs) rows.set(proof.lookup, proof);
    },
    findProofs: async ({ lookups, nowMs, bytesMax }) => {
      store.calls.find += 1;
      await answer();
      store.beforeFound();
      let bytes = 0;
      return lookups.flatMap((lookup) => {
        const row = rows.get(lookup);
        if (row === undefined || row.expiresAtMs <= nowMs || bytes > bytesMax) return [];
        bytes += row.sealed.length;
        return [row];
      });
    },
    sweepProofs: async ({ nowMs, rowsMax }) => {
      store.calls.sweep += 1;
      await answer();
      const expired = [...rows.values()].filter((row) => row.expiresAtMs <= nowMs).slice(0, rowsMax);
      for (const { lookup } of expired) rows.delete(lookup);
      return expired.length;
    },
  };
  async function answer(): Promise<void> {
    if (store.mode === 'down') throw new Error('the store is down');
    if (store.mode === 'hanging') await new Promise(() => {});
  }
  return store;
}
