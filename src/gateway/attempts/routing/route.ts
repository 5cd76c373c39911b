import type { Balance, ResponseState, StopSequences } from './model-options.ts';
import type { ReplyCheck } from '../../settings/call-settings.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { HealthSubject } from '../health/health.ts';
import type { ToolModes } from '../../settings/tool-settings.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import { modelKindsOf } from '../../../upstreams/model-kind-rules.ts';
import { hashText } from './conversation-hash.ts';
import type { ConfiguredModel } from './configured-model.ts';
import type { Target } from './target.ts';

/** A target with what ranking it needs. */
export type RoutedTarget = {
  readonly target: Target;
  readonly weight: number;
  readonly subject: HealthSubject;
  /** What its model is made for, as far as that is known. */
  readonly kinds: readonly ModelKind[] | undefined;
  /** What sets it apart from the others in rendezvous. Stays the same when a credential is renewed. */
  readonly seed: number;
};

/** Targets of one priority. */
export type Tier = readonly RoutedTarget[];

/** Where a model goes. */
export type Route = {
  /** By priority; within one, in the order of the configuration. */
  readonly targets: readonly Target[];
  readonly balance: Balance;
  readonly responseState: ResponseState;
  readonly toolModes?: ToolModes | undefined;
  readonly replyCheck?: ReplyCheck | undefined;
  readonly stopSequences?: StopSequences | undefined;
  /** Whether any target has conditions. */
  readonly isConditional: boolean;
  /** The targets as a dialect's calls are to try them, whatever their conditions. Calls that are no chats have none. */
  readonly tiersFor: (dialect: DialectId | undefined) => readonly Tier[];
};

/** Whether all that a model may go to is known to make pictures and nothing else. */
export function makesOnlyPictures(route: Route): boolean {
  return route
    .tiersFor(undefined)
    .every((tier) => tier.every(({ kinds }) => kinds !== undefined && kinds.every((kind) => kind === 'image')));
}

/** The health subject of a target. */
export function subjectOf({ upstream, upstreamModel }: Target): HealthSubject {
  return { upstreamId: upstream.id, credentialId: upstream.credentialId, upstreamModel };
}

/** Makes the route of a model. */
export function createRoute(model: Omit<ConfiguredModel, 'name'>): Route {
  const tiers = groupTiers(model.targets);
  const ordered = new Map<DialectId, readonly Tier[]>();
  return {
    targets: tiers.flatMap((tier) => tier.map(({ target }) => target)),
    balance: model.balance ?? 'conversation',
    responseState: model.responseState ?? 'auto',
    toolModes: model.toolModes,
    replyCheck: model.replyCheck,
    stopSequences: model.stopSequences,
    isConditional: model.targets.some(({ when }) => when !== undefined),
    tiersFor: (dialect) => {
      if (dialect === undefined) return tiers;
      const known = ordered.get(dialect);
      if (known !== undefined) return known;
      const made = orderFor(dialect, tiers, model);
      ordered.set(dialect, made);
      return made;
    },
  };
}

function groupTiers(targets: readonly Target[]): readonly Tier[] {
  const tiers = new Map<number, RoutedTarget[]>();
  const seen = new Map<string, number>();
  for (const [index, target] of targets.entries()) {
    const priority = target.priority ?? index + 1;
    const tier = tiers.get(priority) ?? [];
    const name = `${target.upstream.id}\n${target.upstreamModel}`;
    const ordinal = seen.get(name) ?? 0;
    seen.set(name, ordinal + 1);
    const kinds = target.kind === undefined ? modelKindsOf(target.upstream.vendor, target.upstreamModel) : [target.kind];
    tier.push({ target, weight: target.weight ?? 1, subject: subjectOf(target), kinds, seed: hashText(`${name}\n${ordinal}`) });
    tiers.set(priority, tier);
  }
  return [...tiers].toSorted(([first], [second]) => first - second).map(([, tier]) => tier);
}

/**
 * Nothing is lost where the upstream speaks the caller's dialect. Where the configuration leaves the order open, such targets therefore come first; where it
 * sets priorities they do so within a priority, unless it also says how that is to be shared.
 */
function orderFor(dialect: DialectId, tiers: readonly Tier[], { ordered, balance }: Omit<ConfiguredModel, 'name'>): readonly Tier[] {
  const speaks = ({ target }: RoutedTarget): boolean => target.upstream.dialects.includes(dialect);
  if (ordered === true && balance !== undefined) return tiers;
  const split = tiers.flatMap((tier) => {
    const native = tier.filter(speaks);
    return native.length === 0 || native.length === tier.length ? [tier] : [native, tier.filter((routed) => !speaks(routed))];
  });
  if (ordered === true) return split;
  const isNative = (tier: Tier): boolean => tier.every(speaks);
  return [...split.filter(isNative), ...split.filter((tier) => !isNative(tier))];
}
