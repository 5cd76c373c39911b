/** On whose account texts are ranked. `part`: as which part of which call that is booked, where it is for one. */
export type RankingOwner = {
  readonly userName: string;
  readonly keyId?: string;
  readonly part?: { readonly rowId: string; readonly parentCallId: string } | undefined;
};

/**
 * Scores how well each text fits a query, from 0 to 1, in the order of the texts, on the account of their owner.
 * Rejects if that is not possible now.
 * @param texts at most `rankedTextsMax`
 */
export type RankTexts = (query: string, texts: readonly string[], owner: RankingOwner, signal: AbortSignal) => Promise<readonly number[]>;

/** Texts of one ranking: the best that words and meaning have found. */
export const rankedTextsMax = 50;
