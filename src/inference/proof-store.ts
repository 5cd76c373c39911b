/** A vaulted turn as the store keeps it: neither name nor content is in clear. */
export type SealedProof = {
  /** Whose and which call's it is, as a keyed hash: letters and digits, at most 64. */
  readonly lookup: string;
  /** The sealed content as base64. */
  readonly sealed: string;
  /** Unix milliseconds from which on it is gone. */
  readonly expiresAtMs: number;
};

/** What the proof vault needs of a store. Every method is one transaction. Nothing kept here is ever needed for the books. */
export type ProofStore = {
  /** Writes all of them. A row of the same lookup is replaced. */
  readonly putProofs: (proofs: readonly SealedProof[]) => Promise<void>;
  /**
   * Those of the lookups that are there and expire after `nowMs`, in the order asked for. Reading stops after the row with which the sealed
   * texts exceed `bytesMax`.
   */
  readonly findProofs: (query: {
    readonly lookups: readonly string[];
    readonly nowMs: number;
    readonly bytesMax: number;
  }) => Promise<readonly SealedProof[]>;
  /**
   * Deletes what has expired at `nowMs`, and, while the sealed texts exceed `bytesMax` together, what expires next; at most `rowsMax` rows.
   * Returns how many: as many as `rowsMax` means that there may be more.
   */
  readonly sweepProofs: (limits: { readonly nowMs: number; readonly bytesMax: number; readonly rowsMax: number }) => Promise<number>;
};
