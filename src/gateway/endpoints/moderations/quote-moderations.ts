import type { PlainServices } from '../shared/plain-call.ts';
import { type QuoteTarget, type QuotedCall, rankRouted } from '../shared/quoted-call.ts';
import { boundsOfJudgement, factsOfJudgement } from './judge-job.ts';
import { readModeration } from './read-moderation.ts';
import { findStandIn } from './stand-in.ts';

/** Reads a request as a call of it would be read. @throws GatewayError */
export function quoteModerations(asked: QuoteTarget<PlainServices>): QuotedCall {
  const moderation = readModeration(asked.body, asked.settings);
  const judged = findStandIn(asked.settings, moderation);
  const facts = judged === undefined ? moderation.facts : factsOfJudgement(judged);
  const boundAt = judged === undefined ? () => moderation.bounds : boundsOfJudgement(judged);
  const targets = rankRouted(asked, facts, { kind: judged === undefined ? 'moderation' : 'chat' });
  return {
    dialect: 'openai-moderations',
    requestedModel: facts.requestedModel,
    targets: targets.map((target) => ({ target, usage: boundAt(target) })),
    roundsMax: 1,
  };
}
