/** On whose account vectors are made. */
type EmbeddingOwner = { readonly userName: string };

/**
 * Makes a vector of length 1 of each text, in order, on the account of their owner. Rejects when that is not possible now.
 * @param texts at most `embeddingBatchMax`
 */
export type EmbedTexts = (texts: readonly string[], owner: EmbeddingOwner, signal: AbortSignal) => Promise<readonly Float32Array[]>;

/** Texts of one request for vectors. */
export const embeddingBatchMax = 64;
