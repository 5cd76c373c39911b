/** A stored turn of the proof vault. Neither its name nor its content is readable in the store. */
export type SealedProof = {
  /** A keyed hash of the caller and the call: at most 64 letters and digits. */
  readonly lookup: string;
  /** The sealed content as base64. */
  readonly sealed: string;
  /** Unix milliseconds at which it expires. */
  readonly expiresAtMs: number;
};

/** The operations of a store for the proof vault. Every method is one transaction. The books never need these rows. */
export type ProofStore = {
  /** Writes all of them. A row with the same lookup is replaced. */
  readonly putProofs: (proofs: readonly SealedProof[]) => Promise<void>;
  /**
   * Finds the rows of the lookups that expire after `nowMs`, in the requested order. Reading stops after the row with
   * which the sealed texts exceed `bytesMax`.
   */
  readonly findProofs: (query: {
    readonly lookups: readonly string[];
    readonly nowMs: number;
    readonly bytesMax: number;
  }) => Promise<readonly SealedProof[]>;
  /**
   * Deletes rows that have expired at `nowMs`. While the sealed texts together exceed `bytesMax`, it also deletes the
   * rows that expire next. It deletes at most `rowsMax` rows and returns their number; if that is `rowsMax`, there may
   * be more.
   */
  readonly sweepProofs: (limits: { readonly nowMs: number; readonly bytesMax: number; readonly rowsMax: number }) => Promise<number>;
};
