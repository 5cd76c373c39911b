import type { WireRequest } from '../../dialects/chat-dialect.ts';
import type { Gateway } from '../gateway.ts';
import { type EstimatedCount, type ExchangePlan, planExchange } from '../plan-exchange.ts';
import type { Target } from '../routing/routing-table.ts';
import { keepReplies } from '../stored-responses/keep-reply.ts';
import type { ResponseTurn, TurnRequest } from '../stored-responses/response-turn.ts';
import type { KnownCall } from './call-attempts.ts';

type Plan = ExchangePlan | EstimatedCount;

/** What one target is to be asked: the request as it came, or what the turn of a stored response makes of it. */
type Asked = { readonly target: Target; readonly request: WireRequest; readonly bytes: Buffer };

/**
 * Plans an attempt at one target. At once where the call passes through.
 * @throws GatewayError for a request that cannot be said in the upstream's dialect
 */
export function planAttempt(gateway: Gateway, known: KnownCall, { target, request, bytes }: Asked): Plan | Promise<Plan> {
  const { turn, round } = known;
  if (turn === undefined) return planRequest(gateway, known, target, { request, bytes, translate: round !== undefined });
  const made = turn.requestFor(target);
  const plan = (own: TurnRequest): Plan | Promise<Plan> => {
    const planned = planRequest(gateway, known, target, own, request);
    return planned instanceof Promise ? planned.then((one) => keepReply(one, turn, target)) : keepReply(planned, turn, target);
  };
  return made instanceof Promise ? made.then(plan) : plan(made);
}

/** Sees to it that the reply of a turn is kept. */
function keepReply(plan: Plan, turn: ResponseTurn, target: Target): Plan {
  if (plan.kind === 'estimate' || !turn.keeps) return plan;
  const isNative = plan.translation === undefined;
  return { ...plan, relay: keepReplies(plan.relay, (response) => turn.record(response, target, isNative), isNative) };
}

function planRequest(
  gateway: Gateway,
  { call, facts, framing, caller, acceptedAtMs, turn }: KnownCall,
  target: Target,
  { request, bytes, translate }: TurnRequest,
  asked?: WireRequest,
): Plan | Promise<Plan> {
  const { callId: requestId, dialect, response } = call;
  return planExchange({
    gateway,
    requestId,
    dialect,
    request,
    bytes,
    facts,
    target,
    framing,
    caller,
    acceptedAtMs,
    hasLeft: () => response.destroyed,
    translate,
    ...(asked === undefined ? {} : { asked }),
    ...(turn === undefined ? {} : { replyId: turn.replyId }),
  });
}
