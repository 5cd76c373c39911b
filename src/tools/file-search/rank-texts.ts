/** The owner of a ranking, who pays for it. `part`: the call and the part of it under which the ranking is booked. */
export type RankingOwner = {
  readonly userName: string;
  readonly keyId?: string;
  readonly part?: { readonly rowId: string; readonly parentCallId: string } | undefined;
};

/**
 * Scores how well each text matches a query, from 0 to 1, in the order of the texts. Their owner pays. Rejects if that
 * is not possible now.
 * @param texts at most `rankedTextsMax`
 */
export type RankTexts = (query: string, texts: readonly string[], owner: RankingOwner, signal: AbortSignal) => Promise<readonly number[]>;

/** How many texts are ranked: the best by words and vectors. */
export const rankedTextsMax = 50;
