import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { boundRerank } from '../../../dialects/rerank/bound-rerank.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { RerankRequest } from '../../../inference/rerank.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { Ranking } from './read-ranking.ts';

/** Documents of which one search unit is made, where none is long. */
const documentsPerUnit = 100;

/** Search units of a ranking of which no document is long. */
export function usualUnits({ documents }: Pick<RerankRequest, 'documents'>): number {
  return Math.ceil(documents.length / documentsPerUnit);
}

const billsUnits = ({ upstream }: Target): boolean => upstream.services.rerank === 'cohere';

/** What a target charges a ranking by: search units at Cohere, tokens elsewhere. */
export function expectedUse({ request, facts }: Ranking, target: Target): Usage {
  if (billsUnits(target)) return { searchUnits: usualUnits(request) };
  return { inputTokens: estimateTokens(facts.inputCharacters) };
}

/** What a ranking may use: the one reckoning of holds and of quotes. Some servers report units and tokens, whichever they are priced by: both are bounded. */
export function boundsOfRanking(ranking: Ranking): (target: Target) => UsageBounds {
  const most = boundRerank(ranking.request);
  return (target) => ({ expected: expectedUse(ranking, target), most });
}
