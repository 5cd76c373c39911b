import type { UpstreamDialect } from '../../../../dialects/chat-dialect.ts';
import type { DialectId, UpstreamDialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects, upstreamDialects } from '../../../../dialects/registry.ts';
import { mayHave } from '../../../../dialects/request-survey.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import { estimateTokens } from '../../../../inference/count-text-characters.ts';
import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readAhead } from '../../../../platform/json/lazy-object.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import { forwardReplyHeaders } from '../../../attempts/exchange/pass-headers.ts';
import { fitRelay } from '../../../attempts/exchange/fit-relay.ts';
import { prepareRequest } from '../../../attempts/exchange/prepare-request.ts';
import { refusePrivateAddresses } from '../../../attempts/exchange/private-addresses.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { addWarnings } from '../../../replies/write-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import type { PreparedCall } from '../incoming-call.ts';
import type { PassingForm, ReplyForm } from '../reply-form.ts';
import { keepReplies, type KeepReply } from '../responses/keep-reply.ts';
import type { ResponseTurn, TurnRequest } from '../responses/response-turn.ts';
import {
  addressRequest,
  decodeForTarget,
  prepareTranslation,
  type Translation,
  type TranslationOptions,
} from '../translate/prepare-translation.ts';
import { createCountRelay } from '../translate/token-count.ts';
import { createTranslateRelay } from '../translate/translate-relay.ts';
import { type FittedRequest, fitRequest } from './fit-request.ts';
import { nameReplies } from './name-replies.ts';
import { createPassthroughRelay } from './passthrough-relay.ts';

/** The request to the upstream, and how the reply comes back. */
export type ExchangePlan<Piece = Buffer> = {
  readonly kind: 'exchange';
  readonly upstreamRequest: UpstreamRequest;
  readonly relay: ReplyRelay<Piece>;
  /** The dialect of the upstream's reply. */
  readonly upstreamDialect: UpstreamDialect;
  /** Absent in passthrough. */
  readonly translation?: Translation;
};

/** A count that no upstream can make. The gateway estimates it. */
export type EstimatedCount = { readonly kind: 'estimate'; readonly inputTokens: number };

type Plan<Piece> = ExchangePlan<Piece> | EstimatedCount;

/** The client's request for one target. A turn of a stored response derives another one from it. */
type AttemptRequest = TurnRequest & {
  readonly target: Target;
  /** The vendor's refusal of the request as too long, if a shorter one is to be sent. */
  readonly overflow?: GatewayError | undefined;
  /** Whether the target has refused the reasoning of the conversation, which goes without it then. Absent: no. */
  readonly withoutReasoning?: boolean;
};

/** A request that fits its target, and the call that it belongs to. */
type FittedAttempt = TurnRequest & {
  readonly gateway: ChatServices;
  readonly prepared: PreparedCall;
  readonly target: Target;
  /** The client's request if `request` was derived from it. */
  readonly original: WireRequest | undefined;
  /** Whether the target has refused the reasoning of the conversation. */
  readonly withoutReasoning: boolean;
};

type Planning<Piece> = FittedAttempt & { readonly form: ReplyForm<Piece> };

/** What a plan is made for. */
type Asked<Piece> = {
  readonly gateway: ChatServices;
  readonly prepared: PreparedCall;
  /** The form that the sink of the reply accepts. */
  readonly form: ReplyForm<Piece>;
  readonly attempt: AttemptRequest;
};

/**
 * Plans an attempt at one target: at once if the call passes through.
 * @throws GatewayError if the request cannot be expressed in the upstream's dialect
 */
export function planAttempt<Piece>(asked: Asked<Piece>): Plan<Piece> | Promise<Plan<Piece>> {
  const { prepared, attempt } = asked;
  const own = prepared.turn?.requestFor(attempt.target) ?? attempt;
  return own instanceof Promise ? own.then((request) => planRequest(asked, request)) : planRequest(asked, own);
}

function planRequest<Piece>(asked: Asked<Piece>, own: TurnRequest): Plan<Piece> | Promise<Plan<Piece>> {
  const { prepared, attempt } = asked;
  const fitted = fitRequest(prepared, attempt.target, own, attempt.overflow);
  return fitted instanceof Promise ? fitted.then((request) => planFitted(asked, request)) : planFitted(asked, fitted);
}

function planFitted<Piece>(asked: Asked<Piece>, fitted: FittedRequest): Plan<Piece> | Promise<Plan<Piece>> {
  const { gateway, prepared, form, attempt } = asked;
  const { request, bytes, translate, truncated } = fitted;
  const original = request === attempt.request ? undefined : attempt.request;
  const { target, withoutReasoning = false } = attempt;
  const planned = planExchange({ request, bytes, translate, gateway, prepared, form, target, original, withoutReasoning });
  return planned instanceof Promise ? planned.then((plan) => finishPlan(asked, plan, truncated)) : finishPlan(asked, planned, truncated);
}

function finishPlan<Piece>({ prepared, form, attempt }: Asked<Piece>, plan: Plan<Piece>, truncated: string | undefined): Plan<Piece> {
  const { turn } = prepared;
  return noteTruncation(turn === undefined ? plan : keepReply(plan, turn, form, attempt.target), truncated);
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

/**
 * Plans a call's exchange with its target: passthrough if the upstream speaks the client's dialect, otherwise
 * translation. Only a translated call may have to wait, for media and proofs.
 */
function planExchange<Piece>(planning: Planning<Piece>): Plan<Piece> | Promise<Plan<Piece>> {
  const { prepared, target, request, translate } = planning;
  const { dialect } = prepared.call;
  const { passing } = planning.form;
  const { surveyRequest } = dialect;
  if (prepared.settings.allowsPrivateMedia !== true && mayHave(surveyRequest, request.body, 'private-address'))
    refusePrivateAddresses(dialect.id, request.body);
  if (passing !== undefined && !translate && target.upstream.dialects.includes(dialect.id) && mayPass(planning)) {
    if (!target.upstream.passesStoredIds && mayHave(surveyRequest, request.body, 'stored-id')) refuseStoredIds(dialect.id, request.body);
    const passed = withoutForeignProofs(planning);
    return passed instanceof Promise
      ? passed.then((own) => planPassthrough(planning, passing, own))
      : planPassthrough(planning, passing, passed);
  }
  return request.operation === 'count-tokens' ? planCount(planning) : planTranslation(planning);
}

/** A server may speak the dialect without compacting conversations. */
function mayPass({ prepared: { facts }, target }: FittedAttempt): boolean {
  if (facts.compacts !== true || target.upstream.vendor.compacts === true) return true;
  const { continues } = facts;
  if (continues === undefined) return false;
  throw new GatewayError(
    'untranslatable_field',
    `${continues.param}: the upstream of this model stores the conversation and cannot compact it; send the whole conversation in input.`,
    { param: continues.param },
  );
}

/**
 * Refuses a request that names something which a vendor stores. The vendor knows only the operator's credential, so it
 * would give any caller another caller's things. Files, vector stores, responses, conversations and threads are not
 * checked here, because the gateway knows their owners.
 * @throws GatewayError `object_not_found`
 */
export function refuseStoredIds(dialect: DialectId, body: JsonObject): void {
  const [found] = chatDialects[dialect].findStoredIds(body).take(1);
  if (found === undefined) return;
  const { param, what, instead } = found;
  throw new GatewayError(
    'object_not_found',
    `${param}: it names ${what} at the vendor of this model, and this gateway does not know its owner. Please ${instead}, or ask the operator to allow such ids (storedIds of the upstream).`,
    { param, status: 400 },
  );
}

const leftOutReasoning: TranslationNote = {
  kind: 'dropped',
  field: 'reasoning',
  reason: 'this upstream refused the reasoning of earlier turns; the conversation goes on without it',
};

/** The request that passes through, and its bytes. */
type PassedRequest = Pick<TurnRequest, 'request' | 'bytes'>;

function planPassthrough<Piece>(
  planning: Planning<Piece>,
  form: PassingForm<Piece>,
  { request, bytes }: PassedRequest,
): ExchangePlan<Piece> | EstimatedCount {
  const { prepared, target } = planning;
  const { call, framing, facts, settings } = prepared;
  const { dialect, callId: requestId } = call;
  const shaped = prepareRequest({ dialect, request, bytes, facts, target, framing });
  if (shaped === undefined) {
    // An upstream may speak the dialect without its counter, but never only the counter.
    if (request.operation === 'count-tokens') return estimateCount(prepared);
    throw new Error(`${target.upstream.vendor.id} speaks ${dialect.id} and has no route for it`);
  }
  const { n, stream_options } = request.body;
  const streamRequest = { n, stream_options };
  const isDocumented = settings.validation === 'documented';
  const relay = createPassthroughRelay({ dialect, form, streamRequest, requestId, target, framing, isDocumented });
  const notes = planning.withoutReasoning ? [...shaped.notes, leftOutReasoning] : shaped.notes;
  const fitted = fitRelay(relay, target, dialect.id, notes);
  const isNamed = dialect.id === 'anthropic-messages' && request.operation === 'generate';
  const named = isNamed ? (call.cloud?.model ?? renamedModel(facts.requestedModel, target)) : undefined;
  return {
    kind: 'exchange',
    upstreamRequest: shaped.upstreamRequest,
    relay: named === undefined ? fitted : nameReplies(fitted, named),
    upstreamDialect: dialect,
  };
}

/** The client's name for a model that is called by another name. */
function renamedModel(requestedModel: string, { upstreamModel }: Target): string | undefined {
  return requestedModel === upstreamModel ? undefined : requestedModel;
}

/** Proofs of another vendor would be refused. They are wrapped, so that they can be recognised and removed here. */
function withoutForeignProofs({ prepared, request, bytes, withoutReasoning }: FittedAttempt): PassedRequest | Promise<PassedRequest> {
  const { codec, surveyRequest } = prepared.call.dialect;
  if (!withoutReasoning && !mayHave(surveyRequest, request.body, 'foreign-proof')) return { request, bytes };
  const body = codec.removeForeignProofs(request.body, withoutReasoning);
  if (body === request.body) return { request, bytes };
  const pass = (written: Buffer): PassedRequest => ({ request: { ...request, body }, bytes: written });
  const written = writeJson(body);
  return written instanceof Promise ? written.then(pass) : pass(written);
}

/** The dialect to translate into: the one that the upstream supports best. */
export function dialectOf({ upstream }: Pick<Target, 'upstream'>): UpstreamDialect {
  const preferred: UpstreamDialectId = upstream.dialects[0] ?? 'openai-chat';
  return upstreamDialects[preferred];
}

function translationOptions({ gateway, prepared, target, request, original, withoutReasoning }: FittedAttempt): TranslationOptions {
  const { call, facts, framing, caller, acceptedAtMs, turn, settings, neutral } = prepared;
  return {
    requestId: call.callId,
    client: call.dialect,
    upstream: dialectOf(target),
    request,
    original,
    neutral,
    facts,
    target,
    withoutReasoning,
    framing,
    caller,
    acceptedAtMs,
    nowMs: () => gateway.clock.nowMs(),
    newId: gateway.newId,
    vault: gateway.proofVault,
    fetchMedia: gateway.fetchMedia,
    summaries: gateway.summaries,
    documents: gateway.documents,
    stopSequences: settings.routing.routeOf(facts.requestedModel)?.stopSequences,
    replyId: turn?.replyId,
    hasLeft: () => call.response.destroyed,
  };
}

async function planTranslation<Piece>(planning: Planning<Piece>): Promise<ExchangePlan<Piece>> {
  await readAhead(planning.request.body);
  const { translation, upstreamRequest } = await prepareTranslation(translationOptions(planning));
  const { target } = planning;
  const translating = withListedHeaders(createTranslateRelay(translation, planning.form), target);
  const relay = fitRelay(translating, target, translation.upstream.id, []);
  return { kind: 'exchange', upstreamRequest, relay, upstreamDialect: translation.upstream, translation };
}

/** Adds the upstream's headers that the operator has listed. Headers of the translation take precedence. */
function withListedHeaders<Piece>(relay: ReplyRelay<Piece>, { upstream }: Target): ReplyRelay<Piece> {
  if (upstream.forwardsReplyHeader === undefined) return relay;
  return { ...relay, replyHeaders: (received) => ({ ...forwardReplyHeaders(upstream, received), ...relay.replyHeaders(received) }) };
}

async function planCount<Piece>(planning: Planning<Piece>): Promise<ExchangePlan<Piece> | EstimatedCount> {
  await readAhead(planning.request.body);
  const translating = translationOptions(planning);
  const { client, upstream, requestId } = translating;
  const estimated = estimateCount(planning.prepared);
  if (upstream.codec.encodeCountRequest === undefined) return estimated;
  const { neutral, fit } = await decodeForTarget(translating);
  const upstreamRequest = await addressRequest(translating, upstream.codec.encodeCountRequest(neutral, fit), fit.notes);
  if (upstreamRequest === undefined) return estimated;
  const counting = createCountRelay({ client, upstream, requestId, estimate: estimated.inputTokens });
  const relay = fitRelay(withListedHeaders(counting, planning.target), planning.target, upstream.id, []);
  return { kind: 'exchange', upstreamRequest, relay, upstreamDialect: upstream };
}

function estimateCount({ facts }: Pick<PreparedCall, 'facts'>): EstimatedCount {
  return { kind: 'estimate', inputTokens: estimateTokens(facts.inputCharacters) };
}
