import type { ChatDialect, RequestFeatures } from '../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { type ModelKind, modelKinds } from '../../../inference/interfaces.ts';
import { nearestName } from '../../../platform/nearest-name.ts';
import { servesKind, type UpstreamServices } from '../../../upstreams/upstream-services.ts';
import { mayCall, type ModelLimits } from '../../admission/authenticate.ts';
import { alwaysHealthy, type KnownHealth } from '../health/health.ts';
import type { AttemptServices, GatewaySettings } from '../services.ts';
import { balanceTier, type Candidate } from './balance-tier.ts';
import { findUnmetCondition } from './conditions.ts';
import { hashConversation } from './conversation-hash.ts';
import type { Route, RoutedTarget, RoutingTable, Tier } from './routing-table.ts';
import type { Target } from './target.ts';

/** A call that looks for its targets. */
export type RankedCall = {
  readonly table: Pick<RoutingTable, 'routeOf' | 'models'>;
  /** What the client speaks, where the call is a chat: conditions and balance look into those. */
  readonly dialect: Pick<ChatDialect, 'id' | 'readFeatures' | 'readConversation'> | undefined;
  readonly facts: CallFacts;
  readonly request: WireRequest;
  readonly caller: { readonly userId: string } & ModelLimits;
  /** What the endpoint needs a model for: one that is known to be made for something else is refused. Absent: any will do. */
  readonly kind?: ModelKind | undefined;
  /** Id of the upstream that keeps the reply which the call continues, where it continues one. */
  readonly keptAt?: string | undefined;
  readonly health: KnownHealth;
  /** Monotonic, by the clock of `health`. */
  readonly nowMs: number;
  /** An even draw from 0 to 1. */
  readonly random: () => number;
};

/**
 * The error for a model that nobody serves, and for one that the caller may not call: the two are answered alike.
 * @param mayUse whether the caller may call a model
 */
export function unknownModel(name: string, table: Pick<RoutingTable, 'models'>, mayUse: (model: string) => boolean): GatewayError {
  // Only a name that the caller may call: that there are others is not told.
  const allowed = table.models.map(({ id }) => id).filter(mayUse);
  const meant = nearestName(name, allowed) ?? nearestName(name.slice(name.lastIndexOf('/') + 1), allowed);
  const hint = meant === undefined || meant === name ? '' : ` did you mean ${meant}?`;
  const message = `model: ${name.slice(0, 256)} is not served here;${hint} GET /v1/models lists what is`;
  return new GatewayError('model_not_found', message, { param: 'model' });
}

/**
 * All targets that may take a call now, in the order in which it is to try them; never none. By priority, then as the model's balance says; targets at which calls
 * wait for longer than they should come after those that are well, and those that do not work are left out. Where none works it is all of them: health decides the order, and a
 * call is made whatever is known.
 * @throws GatewayError `model_not_found`, `thread_unsupported`, `reply_not_found`, `no_suitable_target`
 */
export function rankTargets(call: RankedCall): readonly Target[] {
  const { table, dialect, facts } = call;
  const route = table.routeOf(facts.requestedModel);
  if (route === undefined || route.targets.length === 0)
    throw unknownModel(facts.requestedModel, table, (model) => mayCall(call.caller, model));
  const tiers = findSuitable(call, route, route.tiersFor(dialect?.id));
  const [first] = tiers;
  const [only] = first ?? [];
  // Most models have one target, and then there is nothing to read, to hash or to copy.
  if (tiers.length === 1 && first?.length === 1 && only !== undefined) return route.targets.length === 1 ? route.targets : [only.target];
  return rankTiers(call, route, tiers);
}

/** The tiers without the targets that cannot take the call, whatever their health. */
function findSuitable(call: RankedCall, route: Route, tiers: readonly Tier[]): readonly Tier[] {
  const { facts } = call;
  const isStateful = facts.continues !== undefined || facts.needs.length > 0;
  const able = findOfKind(call, tiers);
  if (!isStateful && !route.isConditional) return able;
  const keeping = isStateful ? findKeeping(call, able) : able;
  return route.isConditional ? findConditioned(call, keeping) : keeping;
}

function findOfKind({ kind, facts }: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  if (kind === undefined) return tiers;
  const isOther = (routed: RoutedTarget): boolean => routed.kinds?.includes(kind) === false;
  // Looked for without a copy of the tiers: every call comes by here.
  const other = tiers.find((tier) => tier.some(isOther))?.find(isOther)?.kinds;
  if (other === undefined) return tiers;
  const fitting = filterTiers(tiers, (routed) => !isOther(routed));
  if (fitting.length > 0) return fitting;
  throw describeOtherKind(facts.requestedModel, other, kind);
}

/** State is kept by an upstream that was spoken to in the caller's own dialect, and a call that continues it can go nowhere else. */
function findKeeping({ dialect, facts, keptAt }: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  const threads = facts.needs.includes('threads');
  const speaks = ({ dialects }: Target['upstream']): boolean => dialect !== undefined && dialects.includes(dialect.id);
  const stateful = filterTiers(
    tiers,
    ({ target: { upstream } }) => speaks(upstream) && (!threads || upstream.vendor.offers.includes('threads')),
  );
  if (threads && stateful.length === 0) throw describeThreadless(facts.requestedModel);
  if (facts.continues === undefined) return stateful;
  const keeping = keptAt === undefined ? stateful : filterTiers(stateful, ({ target }) => target.upstream.id === keptAt);
  if (keeping.length === 0) throw describeUnknownReply(facts.continues);
  return keeping;
}

/** What no chat has anything of. */
const textAlone: RequestFeatures = { images: false, documents: false, audio: false, tools: false };

function findConditioned(call: RankedCall, tiers: readonly Tier[]): readonly Tier[] {
  const { dialect, facts, request } = call;
  const unmet: string[] = [];
  let features: RequestFeatures | undefined;
  const conditioned = { dialect: dialect?.id, facts, features: () => (features ??= dialect?.readFeatures(request) ?? textAlone) };
  const suitable = filterTiers(tiers, ({ target: { when, upstream, upstreamModel } }) => {
    const reason = when === undefined ? undefined : findUnmetCondition(when, conditioned);
    if (reason !== undefined) unmet.push(`${upstream.id}/${upstreamModel} takes ${reason}`);
    return reason === undefined;
  });
  if (suitable.length === 0) throw describeUnsuitable(facts.requestedModel, unmet);
  return suitable;
}

function filterTiers(tiers: readonly Tier[], isSuitable: (routed: RoutedTarget) => boolean): readonly Tier[] {
  return tiers.map((tier) => tier.filter(isSuitable)).filter((tier) => tier.length > 0);
}

function rankTiers(call: RankedCall, route: Route, tiers: readonly Tier[]): readonly Target[] {
  const { health, nowMs, caller } = call;
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
    }
    ranked.push(...balance(candidates));
  }
  return ranked.length > 0 ? orderByState(ranked) : orderByReason(call, tiers, balance);
}

/**
 * A target on probation that is the call's first choice stays it: only so it comes back, and the call is repeated elsewhere if it fails. As a second choice it would make a call
 * meet two failing targets, so there it stands behind all that work.
 */
function orderByState(ranked: readonly Candidate[]): readonly Target[] {
  if (ranked.every(({ state }) => state === 'healthy')) return ranked.map(({ routed }) => routed.target);
  const [first, ...others] = ranked;
  const isProbed = first?.state === 'probe';
  const rest = isProbed ? others : ranked;
  const ordered = isProbed ? [first] : [];
  for (const wanted of ['healthy', 'suspect', 'probe']) ordered.push(...rest.filter(({ state }) => state === wanted));
  return ordered.map(({ routed }) => routed.target);
}

/** What is likeliest to be over, or wrong, first. */
const reasonOrder = ['rate-limited', 'failing', 'rejected'];

/**
 * Where nothing works: those with the mildest reason first, and of several that fail the one that was not asked for longest, so that it is soon known which of them is back.
 */
function orderByReason(
  { health, nowMs, caller }: RankedCall,
  tiers: readonly Tier[],
  balance: (candidates: readonly Candidate[]) => readonly Candidate[],
): readonly Target[] {
  return tiers
    .flatMap((tier) => balance(tier.map((routed): Candidate => ({ routed, state: 'probe', inFlight: 0 }))))
    .map(({ routed }) => {
      const known = health.of(routed.subject);
      const availability = known.availability(nowMs, caller.userId);
      const place = availability.usable ? -1 : reasonOrder.indexOf(availability.reason);
      const isFailing = !availability.usable && availability.reason === 'failing';
      return { target: routed.target, place, sentMs: isFailing ? (known.lastSentMs?.() ?? 0) : 0 };
    })
    .toSorted((first, second) => first.place - second.place || first.sentMs - second.sentMs)
    .map(({ target }) => target);
}

function describeThreadless(model: string): GatewayError {
  return new GatewayError(
    'thread_unsupported',
    `thread: the upstream of ${model} keeps no message threads; send the whole history in messages`,
    { param: 'thread', details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
  );
}

/** A model may have many targets; the first few say enough, and the log has them all. */
const wordedTargetsMax = 8;

function describeUnsuitable(model: string, unmet: readonly string[]): GatewayError {
  const more = unmet.length > wordedTargetsMax ? `; and ${unmet.length - wordedTargetsMax} more` : '';
  const message = `model: no target of ${model.slice(0, 256)} takes this call: ${unmet.slice(0, wordedTargetsMax).join('; ')}${more}`;
  return new GatewayError('no_suitable_target', message, { param: 'model', internal: unmet.join('; ') });
}

/** The error for a reply that cannot be continued: it is not there, is another user's, or the model does not go to the upstream that keeps it. */
export function describeUnknownReply({ replyId, param }: NonNullable<CallFacts['continues']>): GatewayError {
  return new GatewayError('reply_not_found', wordUnknown(replyId.slice(0, 100), param), {
    param,
    // What the stateful client of Messages reads in order to start over with the whole history.
    ...(param === 'previous_response_id' ? {} : { details: { error_code: 'thread_not_found' } }),
  });
}

function wordUnknown(replyId: string, param: string): string {
  if (param === 'previous_response_id') return `Previous response with id '${replyId}' not found.`;
  return `${param}: no message '${replyId}' was found; send the whole history instead`;
}

/**
 * The error for a model that is asked for what it is not made for. It would be charged by what it has no price for, if its vendor answered at all.
 * @param own what it is known to be made for
 */
function describeOtherKind(requestedModel: string, own: readonly ModelKind[], asked: ModelKind): GatewayError {
  const does = own.map((kind) => modelKinds[kind].does).join(' and ');
  const askedAt = own.map((kind) => modelKinds[kind].askedAt).join(', or ');
  const message = `model: ${requestedModel.slice(0, 256)} ${does}; ask for it at ${askedAt}, or name a model here that ${modelKinds[asked].does}`;
  const internal = `asked for as a model of the kind ${asked}; models.<name>.kind says otherwise what a model is for`;
  return new GatewayError('no_suitable_target', message, { param: 'model', internal });
}

/** What a call that is no chat needs of a target. */
export type Wanted = {
  readonly kind: ModelKind;
  /** Whether an upstream offers what the call needs. Absent: what all calls for models of the kind need. */
  readonly isOffered?: (services: UpstreamServices) => boolean;
  /** What such an upstream does, in words. Absent: what models of the kind do. */
  readonly does?: string;
};

/** A table of targets, and what is known of them. */
type Seen = Pick<RankedCall, 'table' | 'health' | 'nowMs' | 'random'>;

/** The targets as they are at the moment, for calls that are to be made. */
export function seeTargets(
  { health, clock, random }: Pick<AttemptServices, 'health' | 'clock' | 'random'>,
  { routing, retries }: Pick<GatewaySettings, 'routing' | 'retries'>,
): Seen {
  return { table: routing, health: retries.avoidFailing ? health : alwaysHealthy, nowMs: clock.monotonicMs(), random };
}

/** The targets that can do what a call wants that is no chat, best first; never none. @throws GatewayError */
export function rankSuitable(
  call: Seen & Pick<RankedCall, 'facts' | 'caller'> & Pick<RankedCall['request'], 'headers'>,
  { kind, isOffered = (services) => servesKind(services, kind), does = modelKinds[kind].does }: Wanted,
): readonly Target[] {
  const { table, facts, caller, headers } = call;
  const { requestedModel } = facts;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, table, (model) => mayCall(caller, model));
  const request = { operation: 'generate', body: {}, headers } as const;
  const targets = rankTargets({ ...call, dialect: undefined, request, kind }).filter(({ upstream }) => isOffered(upstream.services));
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${does}`, { param: 'model' });
}
