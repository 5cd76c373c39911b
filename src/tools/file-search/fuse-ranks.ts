/**
 * Reduces the weight of the first ranks compared with later ones. The value is from the paper that introduced the
 * method (Cormack and others, 2009).
 */
const dampening = 60;

/** A list of chunks, best first, and its weight. */
export type Ranking = { readonly ids: readonly number[]; readonly weight: number };

export type Ranked = { readonly id: number; readonly score: number };

/**
 * Reciprocal rank fusion: chunks with high ranks in several rankings come first. Scores are from 0 to 1; 1 is first in
 * all of them.
 */
export function fuseRanks(rankings: readonly Ranking[]): readonly Ranked[] {
  const whole = rankings.reduce((sum, { weight }) => sum + weight, 0);
  const scores = new Map<number, number>();
  for (const { ids, weight } of rankings) {
    for (const [place, id] of ids.entries()) {
      const share = whole === 0 ? 0 : ((weight / whole) * (dampening + 1)) / (dampening + 1 + place);
      scores.set(id, (scores.get(id) ?? 0) + share);
    }
  }
  return sortRanked(scores);
}

/** Joins the results of several queries. A chunk has the score of its best query. */
export function joinQueries(results: readonly (readonly Ranked[])[]): readonly Ranked[] {
  const scores = new Map<number, number>();
  for (const { id, score } of results.flat()) scores.set(id, Math.max(score, scores.get(id) ?? 0));
  return sortRanked(scores);
}

function sortRanked(scores: ReadonlyMap<number, number>): readonly Ranked[] {
  return Array.from(scores, ([id, score]) => ({ id, score })).toSorted((left, right) => right.score - left.score || left.id - right.id);
}
