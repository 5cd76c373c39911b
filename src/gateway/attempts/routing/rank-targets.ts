import type { ChatDialect, RequestFeatures } from '../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { type ModelKind, modelKinds } from '../../../inference/interfaces.ts';
import { nearestName } from '../../../platform/nearest-name.ts';
import { servesKind, type UpstreamServices } from '../../../upstreams/upstream-services.ts';
import { type CallerLimits, hasUpstreamList, mayCall, mayUseUpstream } from '../../admission/authenticate.ts';
import { alwaysHealthy, type HealthReader, type UnusableReason } from '../health/health.ts';
import type { AttemptServices, GatewaySettings } from '../services.ts';
import { balanceTier, type Candidate } from './balance-tier.ts';
import { findUnmetCondition } from './conditions.ts';
import { hashConversation } from './conversation-hash.ts';
import type { Route, RoutedTarget, RoutingTable, Tier } from './routing-table.ts';
import type { Target } from './target.ts';

export type RankedCall = {
  readonly table: Pick<RoutingTable, 'routeOf' | 'models'>;
  /** The client's dialect, if the call is a chat. Conditions and balance use it. */
  readonly dialect: Pick<ChatDialect, 'id' | 'readFeatures' | 'readConversation'> | undefined;
  readonly facts: CallFacts;
  readonly request: WireRequest;
  readonly caller: { readonly userId: string } & CallerLimits;
  /**
   * The kind of model that the endpoint needs. A model that is known to be of another kind is refused. Absent: any
   * kind.
   */
  readonly kind?: ModelKind | undefined;
  /** Id of the upstream that stores the reply which the call continues, if there is one. */
  readonly keptAt?: string | undefined;
  readonly health: HealthReader;
  /** Monotonic, by the clock of `health`. */
  readonly nowMs: number;
  /** An even draw from 0 to 1. */
  readonly random: () => number;
  /** Called for each target that is left out. Only explanations of a call listen. */
  readonly onLeftOut?: ((target: Target, why: LeftOut) => void) | undefined;
};

/**
 * Why a call does not go to a target. `not-allowed`: the key may not use the upstream; `other-kind`: the model makes
 * something else; `stateless`: it does not store what the call continues; `condition`: its conditions; `inexpressible`:
 * its interface cannot carry the request; the others are its health.
 */
export type LeftOut = {
  readonly reason: 'not-allowed' | 'other-kind' | 'stateless' | 'condition' | 'inexpressible' | UnusableReason;
  /** The words of the reason, if it has any. */
  readonly detail?: string;
  /** Time until a call may probe it. */
  readonly againInMs?: number;
};

/**
 * The error for a model that is not served, and for one that the caller may not call: the answer is the same.
 * @param mayUse whether the caller may call a model
 */
export function unknownModel(name: string, table: Pick<RoutingTable, 'models'>, mayUse: (model: string) => boolean): GatewayError {
  // Suggests only names that the caller may call, because others must stay unknown to it.
  const allowed = table.models.map(({ id }) => id).filter(mayUse);
  const suggestion = nearestName(name, allowed) ?? nearestName(name.slice(name.lastIndexOf('/') + 1), allowed);
  const hint = suggestion === undefined || suggestion === name ? '' : ` did you mean ${suggestion}?`;
  const message = `model: ${name.slice(0, 256)} is not served here;${hint} GET /v1/models lists the models that are`;
  return new GatewayError('model_not_found', message, { param: 'model' });
}

/**
 * Whether a caller may call a model that is served, at one of the upstreams that it may use. True for a model that is
 * not served, which is answered later.
 */
export function mayReach(caller: CallerLimits, table: Pick<RoutingTable, 'routeOf'>, model: string): boolean {
  if (!mayCall(caller, model)) return false;
  if (!hasUpstreamList(caller)) return true;
  const route = table.routeOf(model);
  return route === undefined || route.targets.some(({ upstream }) => mayUseUpstream(caller, upstream.id));
}

/** @throws GatewayError `model_not_found` for a model that the caller may not call */
export function requireReach(caller: CallerLimits, table: RankedCall['table'], model: string): void {
  if (!mayReach(caller, table, model)) throw unknownModel(model, table, (other) => mayReach(caller, table, other));
}

/**
 * All targets that can take a call now, in the order of attempts; never none. Sorted by priority, then by the model's
 * balance. Suspect targets come after healthy ones, and targets that do not work are left out. If none works, all are
 * returned: health decides the order, and a call is always made.
 * @throws GatewayError `model_not_found`, `targets_taken_out`, `thread_unsupported`, `reply_not_found`,
 * `no_suitable_target`
 */
export function rankTargets(call: RankedCall): readonly Target[] {
  const { table, dialect, facts } = call;
  const route = table.routeOf(facts.requestedModel);
  if (route === undefined) throw unknownModel(facts.requestedModel, table, (model) => mayReach(call.caller, table, model));
  if (route.targets.length === 0) throw describeAllOut(facts.requestedModel);
  const tiers = findSuitable(call, route, route.tiersFor(dialect?.id));
  const [first] = tiers;
  const [only] = first ?? [];
  // Most models have one target. Then nothing is read, hashed or copied.
  if (tiers.length === 1 && first?.length === 1 && only !== undefined) return route.targets.length === 1 ? route.targets : [only.target];
  return rankTiers(call, route, tiers);
}

/** The tiers without the targets that cannot take the call, whatever their health. */
function findSuitable(call: RankedCall, route: Route, tiers: readonly Tier[]): readonly Tier[] {
  const { facts } = call;
  const isStateful = facts.continues !== undefined || facts.needs.length > 0;
  const able = findOfKind(call, findAllowed(call, tiers));
  if (!isStateful && !route.isConditional) return able;
  const keeping = isStateful ? findKeeping(call, able) : able;
  return route.isConditional ? findConditioned(call, keeping) : keeping;
}

/** The targets at upstreams that the caller may use. Without any, the model is unknown to it. */
function findAllowed({ caller, facts, table, onLeftOut }: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  if (!hasUpstreamList(caller)) return tiers;
  const allowed = filterTiers(tiers, ({ target }) => {
    const isAllowed = mayUseUpstream(caller, target.upstream.id);
    if (!isAllowed) onLeftOut?.(target, { reason: 'not-allowed' });
    return isAllowed;
  });
  if (allowed.length > 0) return allowed;
  throw unknownModel(facts.requestedModel, table, (model) => mayReach(caller, table, model));
}

function findOfKind({ kind, facts, onLeftOut }: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  if (kind === undefined) return tiers;
  const isOther = (routed: RoutedTarget): boolean => routed.kinds?.includes(kind) === false;
  // Searched without a copy of the tiers, because every call runs this.
  const other = tiers.find((tier) => tier.some(isOther))?.find(isOther)?.kinds;
  if (other === undefined) return tiers;
  const fitting = filterTiers(tiers, (routed) => {
    if (isOther(routed)) onLeftOut?.(routed.target, { reason: 'other-kind' });
    return !isOther(routed);
  });
  if (fitting.length > 0) return fitting;
  throw describeOtherKind(facts.requestedModel, other, kind);
}

/** An upstream stores state only for calls in the caller's own dialect, and a call that continues it must go there. */
function findKeeping({ dialect, facts, keptAt, onLeftOut }: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  const threads = facts.needs.includes('threads');
  const speaks = ({ dialects }: Target['upstream']): boolean => dialect !== undefined && dialects.includes(dialect.id);
  const stateful = filterTiers(tiers, ({ target }) => {
    const isStateful = speaks(target.upstream) && (!threads || target.upstream.vendor.offers.includes('threads'));
    if (!isStateful) onLeftOut?.(target, { reason: 'stateless' });
    return isStateful;
  });
  if (threads && stateful.length === 0) throw describeThreadless(facts.requestedModel);
  if (facts.continues === undefined) return stateful;
  const keeping = keptAt === undefined ? stateful : filterTiers(stateful, ({ target }) => target.upstream.id === keptAt);
  if (keeping.length === 0) throw describeUnknownReply(facts.continues);
  return keeping;
}

/** The features of calls that are not chats. */
const textAlone: RequestFeatures = { images: false, documents: false, audio: false, tools: false };

function findConditioned(call: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  const { dialect, facts, request } = call;
  const unmet: string[] = [];
  let features: RequestFeatures | undefined;
  const conditioned = { dialect: dialect?.id, facts, features: () => (features ??= dialect?.readFeatures(request) ?? textAlone) };
  const suitable = filterTiers(tiers, ({ target }) => {
    const { when, upstream, upstreamModel } = target;
    const reason = when === undefined ? undefined : findUnmetCondition(when, conditioned);
    if (reason === undefined) return true;
    unmet.push(`${upstream.id}/${upstreamModel} takes ${reason}`);
    call.onLeftOut?.(target, { reason: 'condition', detail: `it takes ${reason}` });
    return false;
  });
  if (suitable.length === 0) throw describeUnsuitable(facts.requestedModel, unmet);
  return suitable;
}

function filterTiers(tiers: readonly Tier[], isSuitable: (routed: RoutedTarget) => boolean): readonly Tier[] {
  return tiers.map((tier) => tier.filter(isSuitable)).filter((tier) => tier.length > 0);
}

function rankTiers(call: RankedCall, route: Route, tiers: readonly Tier[]): readonly Target[] {
  const { health, nowMs, caller, onLeftOut } = call;
  let hash: number | undefined;
  const conversation = (): number => (hash ??= hashConversation(call.dialect, call.request, call.caller.userId));
  const balance = (candidates: readonly Candidate[]) => balanceTier(candidates, route.balance, conversation, call.random);
  const ranked: Candidate[] = [];
  for (const tier of tiers) {
    const candidates: Candidate[] = [];
    for (const routed of tier) {
      const target = health.of(routed.subject);
      const availability = target.availability(nowMs, caller.userId);
      if (availability.usable) candidates.push({ routed, state: availability.state, inFlight: target.inFlight() });
      else onLeftOut?.(routed.target, availability);
    }
    ranked.push(...balance(candidates));
  }
  return ranked.length > 0 ? orderByState(ranked) : orderByReason(call, tiers, balance);
}

/**
 * A target on probation that is the first choice of a call stays first: only a probe ends its outage, and the call is
 * retried elsewhere if the probe fails. As a second choice it would make a call meet two failing targets, so it goes
 * behind all working ones.
 */
function orderByState(ranked: readonly Candidate[]): readonly Target[] {
  if (ranked.every(({ state }) => state === 'healthy')) return ranked.map(({ routed }) => routed.target);
  const [first, ...others] = ranked;
  const isProbed = first?.state === 'probe';
  const rest = isProbed ? others : ranked;
  const ordered = isProbed ? [first] : [];
  for (const next of ['healthy', 'suspect', 'probe']) ordered.push(...rest.filter(({ state }) => state === next));
  return ordered.map(({ routed }) => routed.target);
}

/** The reasons in order, the shortest outage first. */
const reasonOrder = ['rate-limited', 'failing', 'rejected'];

/**
 * The order if nothing works: the mildest reason first; of several failing targets the one that was not called for
 * longest, so that a recovery is noticed soon.
 */
function orderByReason(
  { health, nowMs, caller }: RankedCall,
  tiers: readonly Tier[],
  balance: (candidates: readonly Candidate[]) => readonly Candidate[],
): readonly Target[] {
  return tiers
    .flatMap((tier) => balance(tier.map((routed): Candidate => ({ routed, state: 'probe', inFlight: 0 }))))
    .map(({ routed }) => {
      const target = health.of(routed.subject);
      const availability = target.availability(nowMs, caller.userId);
      const place = availability.usable ? -1 : reasonOrder.indexOf(availability.reason);
      const isFailing = !availability.usable && availability.reason === 'failing';
      return { target: routed.target, place, sentMs: isFailing ? (target.lastSentMs?.() ?? 0) : 0 };
    })
    .toSorted((first, second) => first.place - second.place || first.sentMs - second.sentMs)
    .map(({ target }) => target);
}

function describeAllOut(model: string): GatewayError {
  const message = `model: ${model.slice(0, 256)} is not available at the moment: the operator has taken all its targets out of use`;
  return new GatewayError('targets_taken_out', message, { param: 'model' });
}

function describeThreadless(model: string): GatewayError {
  return new GatewayError(
    'thread_unsupported',
    `thread: the upstream of ${model} does not store message threads; send the whole history in messages`,
    { param: 'thread', details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
  );
}

/** The first few targets are enough for the client. The log names all of them. */
const wordedTargetsMax = 8;

function describeUnsuitable(model: string, unmet: readonly string[]): GatewayError {
  const more = unmet.length > wordedTargetsMax ? `; and ${unmet.length - wordedTargetsMax} more` : '';
  const message = `model: no target of ${model.slice(0, 256)} takes this call: ${unmet.slice(0, wordedTargetsMax).join('; ')}${more}`;
  return new GatewayError('no_suitable_target', message, { param: 'model', internal: unmet.join('; ') });
}

/**
 * The error for a reply that cannot be continued: it does not exist, belongs to another user, or the model does not go
 * to the upstream that stores it.
 */
export function describeUnknownReply({ replyId, param }: NonNullable<CallFacts['continues']>): GatewayError {
  return new GatewayError('reply_not_found', wordUnknown(replyId.slice(0, 100), param), {
    param,
    // The stateful client of Messages reads this code, and starts again with the whole history.
    ...(param === 'previous_response_id' ? {} : { details: { error_code: 'thread_not_found' } }),
  });
}

function wordUnknown(replyId: string, param: string): string {
  if (param === 'previous_response_id') return `Previous response with id '${replyId}' not found.`;
  return `${param}: no message '${replyId}' was found; send the whole history instead`;
}

/**
 * The error for a model of another kind. The call would be charged by a usage that has no price, if the vendor answered
 * at all.
 * @param own the kinds that the model is known for
 */
function describeOtherKind(requestedModel: string, own: readonly ModelKind[], requested: ModelKind): GatewayError {
  const does = own.map((kind) => modelKinds[kind].does).join(' and ');
  const askedAt = own.map((kind) => modelKinds[kind].askedAt).join(', or ');
  const message = `model: ${requestedModel.slice(0, 256)} ${does}; ask for it at ${askedAt}, or name a model here that ${modelKinds[requested].does}`;
  const internal = `requested as a model of the kind ${requested}; models.<name>.kind overrides the kind of a model`;
  return new GatewayError('no_suitable_target', message, { param: 'model', internal });
}

/** The requirements of a call that is not a chat. */
export type TargetRequirements = {
  readonly kind: ModelKind;
  /** Whether an upstream offers what the call needs. Absent: the need of all calls for models of the kind. */
  readonly isOffered?: (services: UpstreamServices) => boolean;
  /** What such an upstream does, as text. Absent: what models of the kind do. */
  readonly does?: string;
};

type Seen = Pick<RankedCall, 'table' | 'health' | 'nowMs' | 'random'>;

/** The present state of all targets, for calls that will be made. */
export function seeTargets(
  { health, clock, random }: Pick<AttemptServices, 'health' | 'clock' | 'random'>,
  { routing, retries }: Pick<GatewaySettings, 'routing' | 'retries'>,
): Seen {
  return { table: routing, health: retries.avoidFailing ? health : alwaysHealthy, nowMs: clock.monotonicMs(), random };
}

/**
 * The targets that can serve a call that is not a chat, best first; never none.
 * @throws GatewayError
 */
export function rankSuitable(
  call: Seen & Pick<RankedCall, 'facts' | 'caller' | 'onLeftOut'> & Pick<RankedCall['request'], 'headers'>,
  { kind, isOffered = (services) => servesKind(services, kind), does = modelKinds[kind].does }: TargetRequirements,
): readonly Target[] {
  const { table, facts, caller, headers } = call;
  const { requestedModel } = facts;
  requireReach(caller, table, requestedModel);
  const request = { operation: 'generate', body: {}, headers } as const;
  const targets = rankTargets({ ...call, dialect: undefined, request, kind }).filter((target) => {
    const isAble = isOffered(target.upstream.services);
    if (!isAble) call.onLeftOut?.(target, { reason: 'other-kind' });
    return isAble;
  });
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${does}`, { param: 'model' });
}
