import type { KnownCall } from '../known-call.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import { addWarnings } from '../../../replies/warning-header.ts';
import type { ChatServices } from '../chat-services.ts';
import { type EstimatedCount, type ExchangePlan, planExchange } from './plan-exchange.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { ReplyForm } from '../forms/reply-form.ts';
import { keepReplies, type KeepReply } from '../responses/keep-reply.ts';
import type { ResponseTurn, TurnRequest } from '../responses/response-turn.ts';
import { type FittedRequest, fitRequest } from './fit-request.ts';

type Plan<Piece> = ExchangePlan<Piece> | EstimatedCount;

/** What one target is to be asked: the request as it came, or what the turn of a stored response makes of it. */
type Asked = {
  readonly target: Target;
  readonly request: WireRequest;
  readonly bytes: Buffer;
  /** How the target's vendor refused the request as too long, where it is to be asked once more with less. */
  readonly overflow?: GatewayError | undefined;
};

/**
 * Plans an attempt at one target. At once where the call passes through.
 * @throws GatewayError for a request that cannot be said in the upstream's dialect
 */
export function planAttempt<Piece>(
  gateway: ChatServices,
  known: KnownCall,
  form: ReplyForm<Piece>,
  { target, request, bytes, overflow }: Asked,
): Plan<Piece> | Promise<Plan<Piece>> {
  const { turn } = known;
  const fit = (made: TurnRequest): Plan<Piece> | Promise<Plan<Piece>> => {
    const fitted = fitRequest(known, target, made, overflow);
    return fitted instanceof Promise ? fitted.then(plan) : plan(fitted);
  };
  const plan = (fitted: FittedRequest): Plan<Piece> | Promise<Plan<Piece>> => {
    const finish = (planned: Plan<Piece>): Plan<Piece> =>
      tellTruncation(turn === undefined ? planned : keepReply(planned, turn, form, target), fitted.truncated);
    const planned = planRequest(gateway, known, form, target, fitted, fitted.request === request ? undefined : request);
    return planned instanceof Promise ? planned.then(finish) : finish(planned);
  };
  const made = turn?.requestFor(target) ?? { request, bytes, translate: false };
  return made instanceof Promise ? made.then(fit) : fit(made);
}

/** Tells the client what its request was shortened by: among what translation tells, or beside what passes through. */
function tellTruncation<Piece>(plan: Plan<Piece>, truncated: string | undefined): Plan<Piece> {
  if (truncated === undefined || plan.kind === 'estimate') return plan;
  if (plan.translation !== undefined) {
    plan.translation.notes.adapted({ path: 'input', otherwise: 'turns' }, truncated);
    return plan;
  }
  const { relay } = plan;
  const notes = [{ kind: 'adapted', field: 'input', reason: truncated }] as const;
  return { ...plan, relay: { ...relay, replyHeaders: (headers) => ({ ...addWarnings(relay.replyHeaders(headers), notes) }) } };
}

/** Sees to it that the reply of a turn is kept. */
function keepReply<Piece>(plan: Plan<Piece>, turn: ResponseTurn, { eventsOf }: ReplyForm<Piece>, target: Target): Plan<Piece> {
  if (plan.kind === 'estimate' || !turn.keeps) return plan;
  const isPassthrough = plan.translation === undefined;
  const keep: KeepReply = (response) => turn.record(response, target, isPassthrough);
  return { ...plan, relay: keepReplies(plan.relay, { keep, eventsOf, isPassthrough }) };
}

function planRequest<Piece>(
  gateway: ChatServices,
  { call, facts, framing, caller, acceptedAtMs, turn, settings, neutral }: KnownCall,
  form: ReplyForm<Piece>,
  target: Target,
  { request, bytes, translate }: TurnRequest,
  asked: WireRequest | undefined,
): Plan<Piece> | Promise<Plan<Piece>> {
  const { callId: requestId, dialect, response } = call;
  return planExchange({
    gateway,
    form,
    requestId,
    dialect,
    neutral,
    request,
    bytes,
    facts,
    target,
    framing,
    caller,
    acceptedAtMs,
    isDocumented: settings.validation === 'documented',
    allowsPrivateMedia: settings.allowsPrivateMedia,
    // Looked up by translated calls alone.
    stopSequences: () => settings.routing.routeOf(facts.requestedModel)?.stopSequences,
    hasLeft: () => response.destroyed,
    translate,
    ...(asked === undefined ? {} : { asked }),
    ...(turn === undefined ? {} : { replyId: turn.replyId }),
  });
}
