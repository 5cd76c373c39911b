import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { boundRerank } from '../../../dialects/rerank/bound-rerank.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { RerankRequest } from '../../../inference/rerank.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { Ranking } from './read-ranking.ts';

/** Documents in one search unit, if none of them is long. */
const documentsPerUnit = 100;

/** Search units of a ranking without long documents. */
export function usualUnits({ documents }: Pick<RerankRequest, 'documents'>): number {
  return Math.ceil(documents.length / documentsPerUnit);
}

const billsUnits = ({ upstream }: Target): boolean => upstream.services.rerank === 'cohere';

/** The expected usage at a target: search units at Cohere, tokens elsewhere. */
export function expectedUse({ request, facts }: Ranking, target: Target): Usage {
  if (billsUnits(target)) return { searchUnits: usualUnits(request) };
  return { inputTokens: estimateTokens(facts.inputCharacters) };
}

/**
 * The usage bounds of a ranking, for holds and quotes alike. Some servers report search units and tokens, whichever has
 * a price, so both are bounded.
 */
export function boundsOfRanking(ranking: Ranking): (target: Target) => UsageBounds {
  const most = boundRerank(ranking.request);
  return (target) => ({ expected: expectedUse(ranking, target), most });
}
