import type { ChatDialect } from '../../dialects/chat-dialect.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { RoutingTable, Target } from './routing-table.ts';

/** The error for a model that nobody serves, and for one that the caller may not call: the two are answered alike. */
export function unknownModel(name: string): GatewayError {
  const message = `model: ${name.slice(0, 256)} is not served here; GET /v1/models lists what is`;
  return new GatewayError('model_not_found', message, { param: 'model' });
}

/**
 * Chooses where a call goes: the model's first target that speaks the client's dialect, because nothing is lost there; else its first target, by translation. Throws
 * `model_not_found` for a model that nobody serves, and `thread_unsupported` where a stateful thread would be lost.
 */
export function rankTargets(table: RoutingTable, dialect: ChatDialect, facts: CallFacts): readonly Target[] {
  const first = chooseTarget(table, dialect, facts);
  return [first, ...table.targetsOf(facts.requestedModel).filter((target) => target !== first)];
}

export function chooseTarget(table: RoutingTable, dialect: ChatDialect, facts: CallFacts): Target {
  const targets = table.targetsOf(facts.requestedModel);
  const [preferred] = targets;
  if (preferred === undefined) throw unknownModel(facts.requestedModel);
  const speaks = ({ upstream }: Target): boolean => upstream.dialects.includes(dialect.id);
  if (!facts.needs.includes('threads')) return targets.find(speaks) ?? preferred;
  const stateful = targets.find((target) => speaks(target) && target.upstream.vendor.offers.includes('threads'));
  if (stateful !== undefined) return stateful;
  throw new GatewayError(
    'thread_unsupported',
    `thread: the upstream of ${facts.requestedModel} keeps no message threads; send the whole history in messages`,
    {
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  );
}
