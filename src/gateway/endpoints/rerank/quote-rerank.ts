import { chooseRerankForm } from '../../../dialects/rerank/rerank-form.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import { type QuoteTarget, type QuotedCall, rankRouted } from '../shared/quoted-call.ts';
import type { PlainServices } from '../shared/plain-call.ts';
import { boundsOfRanking } from './ranking-bounds.ts';
import { readRanking } from './read-ranking.ts';

/** Quotes a ranking request. @throws GatewayError if the call would be refused */
export function quoteRerank(query: QuoteTarget<PlainServices>, path: string): QuotedCall {
  const { body, settings, caller } = query;
  const ranking = readRanking(body, chooseRerankForm(path, body), settings.validation, asksForStrict(caller, query.headers));
  const targets = rankRouted(query, ranking.facts, { kind: 'rerank' });
  const boundAt = boundsOfRanking(ranking);
  return {
    dialect: 'rerank',
    requestedModel: ranking.facts.requestedModel,
    targets: targets.map((target) => ({ target, usage: boundAt(target) })),
    roundsMax: 1,
  };
}
