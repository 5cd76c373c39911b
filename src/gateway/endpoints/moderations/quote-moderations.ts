import type { PlainServices } from '../shared/plain-call.ts';
import type { Asked, QuotedCall } from '../shared/quoting/quoted-call.ts';
import { rankRouted } from '../shared/quoting/rank-routed.ts';
import { readModeration } from './read-moderation.ts';

/** Reads a request as a call of it would be read. @throws GatewayError */
export function quoteModerations(asked: Asked<PlainServices>): QuotedCall {
  const { facts, bounds } = readModeration(asked.body, asked.settings.validation);
  const targets = rankRouted(asked, facts, 'moderation', ({ upstream }) => upstream.moderationsPath !== undefined, 'judges content');
  return {
    dialect: 'openai-moderations',
    requestedModel: facts.requestedModel,
    targets: targets.map((target) => ({ target, usage: bounds })),
    roundsMax: 1,
  };
}
