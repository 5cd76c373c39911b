import type { PreparedCall } from '../prepared-call.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import { addWarnings } from '../../../replies/write-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import { type EstimatedCount, type ExchangePlan, planExchange } from './plan-exchange.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { ReplyForm } from '../forms/reply-form.ts';
import { keepReplies, type KeepReply } from '../responses/keep-reply.ts';
import type { ResponseTurn, TurnRequest } from '../responses/response-turn.ts';
import { type FittedRequest, fitRequest } from './fit-request.ts';

type Plan<Piece> = ExchangePlan<Piece> | EstimatedCount;

/** The request for one target: the client's own, or the one that the turn of a stored response derives from it. */
type AttemptRequest = {
  readonly target: Target;
  readonly request: WireRequest;
  readonly bytes: Buffer;
  /** The vendor's refusal of the request as too long, if a shorter one is to be sent. */
  readonly overflow?: GatewayError | undefined;
};

/**
 * Plans an attempt at one target: at once if the call passes through.
 * @throws GatewayError if the request cannot be expressed in the upstream's dialect
 */
export function planAttempt<Piece>(
  gateway: ChatServices,
  prepared: PreparedCall,
  form: ReplyForm<Piece>,
  { target, request, bytes, overflow }: AttemptRequest,
): Plan<Piece> | Promise<Plan<Piece>> {
  const { turn } = prepared;
  const fit = (own: TurnRequest): Plan<Piece> | Promise<Plan<Piece>> => {
    const fitted = fitRequest(prepared, target, own, overflow);
    return fitted instanceof Promise ? fitted.then(plan) : plan(fitted);
  };
  const plan = (fitted: FittedRequest): Plan<Piece> | Promise<Plan<Piece>> => {
    const finish = (planned: Plan<Piece>): Plan<Piece> =>
      noteTruncation(turn === undefined ? planned : keepReply(planned, turn, form, target), fitted.truncated);
    const planned = planRequest(gateway, prepared, form, target, fitted, fitted.request === request ? undefined : request);
    return planned instanceof Promise ? planned.then(finish) : finish(planned);
  };
  const own = turn?.requestFor(target) ?? { request, bytes, translate: false };
  return own instanceof Promise ? own.then(fit) : fit(own);
}

/** Adds the truncation to the notes of a translation, or to the headers of a reply that passes through. */
function noteTruncation<Piece>(plan: Plan<Piece>, truncated: string | undefined): Plan<Piece> {
  if (truncated === undefined || plan.kind === 'estimate') return plan;
  if (plan.translation !== undefined) {
    plan.translation.notes.adapted({ path: 'input', otherwise: 'turns' }, truncated);
    return plan;
  }
  const { relay } = plan;
  const notes = [{ kind: 'adapted', field: 'input', reason: truncated }] as const;
  return { ...plan, relay: { ...relay, replyHeaders: (headers) => ({ ...addWarnings(relay.replyHeaders(headers), notes) }) } };
}

/** Makes the relay store the reply of a turn. */
function keepReply<Piece>(plan: Plan<Piece>, turn: ResponseTurn, { eventsOf }: ReplyForm<Piece>, target: Target): Plan<Piece> {
  if (plan.kind === 'estimate' || !turn.keeps) return plan;
  const isPassthrough = plan.translation === undefined;
  const keep: KeepReply = (response) => turn.record(response, target, isPassthrough);
  return { ...plan, relay: keepReplies(plan.relay, { keep, eventsOf, isPassthrough }) };
}

function planRequest<Piece>(
  gateway: ChatServices,
  { call, facts, framing, caller, acceptedAtMs, turn, settings, neutral }: PreparedCall,
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
    // Only translated calls look it up.
    stopSequences: () => settings.routing.routeOf(facts.requestedModel)?.stopSequences,
    hasLeft: () => response.destroyed,
    translate,
    ...(asked === undefined ? {} : { asked }),
    ...(turn === undefined ? {} : { replyId: turn.replyId }),
  });
}
