import type { DescribedModel } from '../../../control/nodes/node-state.ts';
import { targetIdOf } from '../../../control/nodes/node-state.ts';
import { describeConditions } from '../../../gateway/attempts/routing/conditions.ts';
import type { Route, RoutedTarget, RoutingTable } from '../../../gateway/attempts/routing/routing-table.ts';
import type { Target } from '../../../gateway/attempts/routing/target.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { Config } from '../../config/config-schema.ts';
import { describeTools, type ToolOffers } from './describe-tools.ts';

/** More models than any configuration names and vendors list. */
const modelsMax = 2000;

/** The models that clients can call, and where their calls go. */
export function describeModels(
  table: RoutingTable,
  { config, tools, nowMs }: { readonly config: Config; readonly tools: ToolOffers; readonly nowMs: number },
): readonly DescribedModel[] {
  const named = new Set(Object.keys(config.models ?? {}));
  const names = new Set([...named, ...table.models.map(({ id }) => id)]);
  return [...names].slice(0, modelsMax).flatMap((name) => {
    // A pattern is described by its own name, which its targets without a name of theirs get.
    const route = table.routeOf(name);
    return route === undefined ? [] : [describeModel(name, route, { table, tools, isNamed: named.has(name), nowMs })];
  });
}

function describeModel(
  name: string,
  route: Route,
  {
    table,
    tools,
    isNamed,
    nowMs,
  }: {
    readonly table: RoutingTable;
    readonly tools: ToolOffers;
    readonly isNamed: boolean;
    readonly nowMs: number;
  },
): DescribedModel {
  const tiers = route.tiersFor(undefined);
  const limits = route.targets.find(({ model }) => model !== undefined)?.model?.limits;
  const kinds = [...new Set(tiers.flat().flatMap((routed) => routed.kinds ?? []))];
  // A model of unknown kind may be one of chats.
  const isChat = kinds.length === 0 || kinds.includes('chat');
  return {
    name,
    isNamed,
    balance: route.balance,
    kinds,
    tools: isChat ? describeTools(route, tools) : [],
    isPriced: route.targets.every(({ upstream, upstreamModel }) =>
      table.priceBook.prices({ vendor: upstream.vendor.id, upstreamModel, requestedModel: name, acceptedAtMs: nowMs }),
    ),
    ...(limits !== undefined && { limits }),
    targets: tiers.flatMap((tier, index) => {
      const total = tier.reduce((sum, { weight }) => sum + weight, 0);
      return tier.map((routed) => ({
        ...describeTarget(routed, index + 1, routed.weight / total),
        ...describePrices(table.priceBook, name, routed.target, nowMs),
      }));
    }),
  };
}

/** One token of each kind, of a call that is small enough for the lowest step of prices. */
const usage = { inputTokens: 1, cacheReadTokens: 1, outputTokens: 1 };

function describePrices(
  priceBook: PriceBook,
  requestedModel: string,
  { upstream, upstreamModel }: Target,
  nowMs: number,
): Pick<DescribedModel['targets'][number], 'prices'> {
  const { lines } = priceBook.rate({ vendor: upstream.vendor.id, upstreamModel, requestedModel, acceptedAtMs: nowMs, usage });
  return lines.length === 0 ? {} : { prices: lines.map(({ meter, unitPrice, per }) => ({ meter, unitPriceUsd: unitPrice, per })) };
}

function describeTarget({ target }: RoutedTarget, tier: number, share: number): DescribedModel['targets'][number] {
  const { upstream, upstreamModel, when } = target;
  return {
    id: targetIdOf(upstream.credentialId, upstreamModel),
    upstream: upstream.id,
    model: upstreamModel,
    tier,
    share,
    dialects: upstream.dialects,
    ...(when !== undefined && { only: describeConditions(when) }),
  };
}
