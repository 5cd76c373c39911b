import type { PlainServices } from '../shared/plain-call.ts';
import { type QuoteTarget, type QuotedCall, rankRouted } from '../shared/quoted-call.ts';
import { boundsOfJudgement, factsOfJudgement } from './judge-job.ts';
import { readModeration } from './read-moderation.ts';
import { findStandIn } from './stand-in.ts';

/** Quotes a moderation request. @throws GatewayError if the call would be refused */
export function quoteModerations(query: QuoteTarget<PlainServices>): QuotedCall {
  const moderation = readModeration(query.body, query.settings);
  const judged = findStandIn(query.settings, moderation);
  const facts = judged === undefined ? moderation.facts : factsOfJudgement(judged);
  const boundAt = judged === undefined ? () => moderation.bounds : boundsOfJudgement(judged);
  const targets = rankRouted(query, facts, { kind: judged === undefined ? 'moderation' : 'chat' });
  return {
    dialect: 'openai-moderations',
    requestedModel: facts.requestedModel,
    targets: targets.map((target) => ({ target, usage: boundAt(target) })),
    roundsMax: 1,
  };
}
