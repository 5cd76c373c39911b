/** The user who pays for vectors. */
type EmbeddingOwner = { readonly userName: string };

/**
 * Creates a vector of length 1 for each text, in order. Their owner pays. Rejects if that is not possible now.
 * @param texts at most `embeddingBatchMax`
 */
export type EmbedTexts = (texts: readonly string[], owner: EmbeddingOwner, signal: AbortSignal) => Promise<readonly Float32Array[]>;

/** The maximum of texts in one request for vectors. */
export const embeddingBatchMax = 64;
