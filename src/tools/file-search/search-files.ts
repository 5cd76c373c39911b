import type { FileFilter } from '../../inference/inference-request.ts';
import type { Logger } from '../../platform/log.ts';
import type { EmbedTexts } from './embed-texts.ts';
import type { FoundChunk } from './file-objects.ts';
import type { ChunkStore } from './file-store.ts';
import { fuseRanks, joinQueries, type Ranked } from './fuse-ranks.ts';
import { matchExpression, queryCharactersMax } from './index-terms.ts';
import { rankedTextsMax, type RankingOwner, type RankTexts } from './rank-texts.ts';

type FileQuery = RankingOwner & {
  readonly storeIds: readonly string[];
  readonly queries: readonly string[];
  readonly filter?: FileFilter | undefined;
  /** From 1 to 50. */
  readonly resultsMax: number;
  /** From 0 to 1. */
  readonly scoreThreshold?: number | undefined;
  /** The weights of words and vectors. Absent: equal. */
  readonly weights?: { readonly text: number; readonly vector: number } | undefined;
  /** The request's ranker: `none` turns off the configured ranking model. */
  readonly ranker?: string | undefined;
  readonly signal: AbortSignal;
};

export type FoundText = FoundChunk & {
  /** How well it matches, from 0 to 1. */
  readonly score: number;
};

export type SearchFiles = (query: FileQuery) => Promise<readonly FoundText[]>;

/** The maximum of queries in one search. Others are ignored. */
export const queriesMax = 8;

/** How many candidates of each ranking take part in the fusion. */
const candidatesMax = 200;

/**
 * Searches a user's stores by words, and by vectors if an embeddings model is configured. A ranking model, if
 * configured, orders the best results. If a model fails, the search continues without it, because fewer results are
 * better than none.
 */
export function createSearchFiles(options: {
  readonly store: ChunkStore;
  readonly embed: () => EmbedTexts | undefined;
  readonly rank: () => RankTexts | undefined;
  readonly logger: Logger;
}): SearchFiles {
  const { store } = options;
  return async (query) => {
    const queries = query.queries.filter((text) => text.trim() !== '').slice(0, queriesMax);
    const vectors = await embedQueries(options, queries, query);
    const results = await Promise.all(queries.map((text, index) => rank(store, query, text, vectors?.[index])));
    const found = joinQueries(results);
    const ranked = await rankAgain(options, queries, found.slice(0, rankedTextsMax), query);
    return ranked ?? (await readBest(store, found, query));
  };
}

/** Reads the best results by their ranks in the searches by words and vectors. */
async function readBest(
  store: ChunkStore,
  found: readonly Ranked[],
  { userName, scoreThreshold = 0, resultsMax }: FileQuery,
): Promise<FoundText[]> {
  const best = found.filter(({ score }) => score >= scoreThreshold).slice(0, resultsMax);
  const scores = new Map(best.map(({ id, score }) => [id, score]));
  const chunks = await store.readChunks({ userName, ids: [...scores.keys()] });
  return chunks.map((chunk) => ({ ...chunk, score: scores.get(chunk.id) ?? 0 }));
}

/** Orders the results with a ranking model. Undefined if there is none, or if it fails. */
async function rankAgain(
  { store, rank: ranker, logger }: Parameters<typeof createSearchFiles>[0],
  queries: readonly string[],
  found: readonly Ranked[],
  { userName, keyId, part, scoreThreshold = 0, resultsMax, ranker: requestedRanker, signal }: FileQuery,
): Promise<readonly FoundText[] | undefined> {
  const ask = requestedRanker === 'none' ? undefined : ranker();
  if (ask === undefined || found.length === 0) return undefined;
  const chunks = await store.readChunks({ userName, ids: found.map(({ id }) => id) });
  try {
    const texts = chunks.map(({ text }) => text);
    const scores = await ask(
      queries.join('\n').slice(0, queryCharactersMax),
      texts,
      { userName, part, ...(keyId !== undefined && { keyId }) },
      signal,
    );
    return chunks
      .map((chunk, index) => ({ ...chunk, score: scores[index] ?? 0 }))
      .filter(({ score }) => score >= scoreThreshold)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, resultsMax);
  } catch (error) {
    logger.warn({ err: error }, 'ranking the results of a file search failed');
    return undefined;
  }
}

async function embedQueries(
  { embed, logger }: Parameters<typeof createSearchFiles>[0],
  queries: readonly string[],
  { userName, signal }: FileQuery,
): Promise<readonly Float32Array[] | undefined> {
  const ask = embed();
  if (ask === undefined || queries.length === 0) return undefined;
  try {
    const texts = queries.map((text) => text.slice(0, queryCharactersMax));
    return await ask(texts, { userName }, signal);
  } catch (error) {
    logger.warn({ err: error }, 'embedding the query of a file search failed');
    return undefined;
  }
}

async function rank(store: ChunkStore, query: FileQuery, text: string, vector: Float32Array | undefined): Promise<readonly Ranked[]> {
  const { userName, storeIds, filter, weights } = query;
  const match = matchExpression(text);
  const { byText, byVector } = await store.searchChunks({ userName, storeIds, match, vector, filter, candidatesMax });
  if (vector === undefined) return fuseRanks([{ ids: byText, weight: 1 }]);
  return fuseRanks([
    { ids: byText, weight: weights?.text ?? 1 },
    { ids: byVector, weight: weights?.vector ?? 1 },
  ]);
}
