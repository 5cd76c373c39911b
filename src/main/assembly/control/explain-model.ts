import type { ApiKey } from '../../../accounts/api-key.ts';
import type { ExplainInput, Explanation } from '../../../admin/resources/models/explain-model.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import type { CostBounds } from '../../../billing/rating/rating.ts';
import { findOverride, targetIdOf, type TargetOverride } from '../../../control/nodes/node-state.ts';
import { OperationFailure } from '../../../control/operations/operation-runner.ts';
import { isClientDialect } from '../../../dialects/registry.ts';
import type { Gateway } from '../../../gateway/endpoints/gateway.ts';
import { type CallExplanation, explainCall, type ExplainedTarget } from '../../../gateway/endpoints/quotes/explain-call.ts';
import { findRoute } from '../../../gateway/endpoints/registry.ts';
import { isChatInterface, type SampleInterface, writeSample } from '../../../gateway/endpoints/shared/sample-request.ts';
import type { RoutingTable } from '../../../gateway/attempts/routing/routing-table.ts';
import { subjectOf } from '../../../gateway/attempts/routing/target.ts';
import type { Store } from '../../../store/store.ts';
import { findKey, findUser } from './find-caller.ts';

/** What explains and tests the models of one gateway. */
export type ModelParts = {
  readonly nodeId: string;
  readonly store: Store;
  readonly gateway: Gateway;
  /** The routes with the targets that operators have taken out of use, and their orders. */
  readonly wholeRouting: () => RoutingTable;
  readonly overrides: () => readonly TargetOverride[];
};

/** Answers where a call would go, with the functions of a real call. @throws OperationFailure */
export async function explainModel(parts: ModelParts, input: ExplainInput): Promise<Explanation> {
  const { key_id: keyId, user } = input;
  const caller = keyId !== null ? await findKey(parts.store, keyId) : user !== null ? await findUser(parts.store, user) : undefined;
  if (caller === undefined && (keyId !== null || user !== null))
    throw new OperationFailure('unknown_caller', 'The key or the user does not exist any more.');
  return await explainFor(parts, input, caller);
}

/** The same for a caller that is known. */
export async function explainFor(parts: ModelParts, input: ExplainInput, caller: ApiKey | undefined): Promise<Explanation> {
  const { gateway, wholeRouting, nodeId } = parts;
  const { model } = input;
  const whole = wholeRouting();
  const asked = input.interface ?? chooseInterface(whole, model);
  const isChat = isChatInterface(asked);
  const request = writeSample(asked, {
    model,
    stream: isChat && input.stream,
    images: isChat && input.images,
    tools: isChat && input.tools,
    inputTokens: input.input_tokens ?? undefined,
    outputTokensMax: input.output_tokens_max ?? undefined,
  });
  const call = { gateway, settings: gateway.settings(), wholeTable: whole, model, interface: asked, request, caller };
  const explained = await explainCall(call, findRoute);
  return {
    model,
    interface: asked,
    path: request.path,
    node: nodeId,
    caller: caller === undefined ? null : { user: caller.userName, key: caller.id === '' ? null : caller.name },
    ...encode(parts, explained, caller !== undefined),
  };
}

/** What the model does: the kind of its first target; for a chat, the interface that this speaks. */
export function chooseInterface(table: Pick<RoutingTable, 'routeOf'>, model: string): SampleInterface {
  const first = table.routeOf(model)?.tiersFor(undefined)[0]?.[0];
  const kind = first?.kinds?.[0] ?? 'chat';
  return kind === 'chat' ? (first?.target.upstream.dialects.find(isClientDialect) ?? 'openai-chat') : kind;
}

const encodeBounds = ({ minimumNanoUsd, expectedNanoUsd, maximumNanoUsd }: CostBounds) => ({
  minimum: formatMoney(minimumNanoUsd),
  expected: formatMoney(expectedNanoUsd),
  maximum: formatMoney(maximumNanoUsd),
});

function encodePlace({ target, tier, share }: Pick<ExplainedTarget, 'target' | 'tier' | 'share'>) {
  const { upstream, upstreamModel } = target;
  const id = targetIdOf(upstream.credentialId, upstreamModel);
  return { id, upstream: upstream.id, model: upstreamModel, tier: tier ?? null, share: share ?? null };
}

type Encoded = Pick<Explanation, 'targets' | 'left_out' | 'refusal' | 'cost' | 'credit'>;

function encode(
  parts: ModelParts,
  { targets, leftOut, refusal, bounds, heldNanoUsd, affordable }: CallExplanation,
  hasCaller: boolean,
): Encoded {
  const isHeld = affordable !== undefined && affordable.kind !== 'unlimited';
  return {
    targets: targets.map((each) => ({
      ...encodePlace(each),
      state: each.availability.usable ? each.availability.state : each.availability.reason,
      way: each.passes === undefined ? null : each.passes ? ('passes' as const) : ('translated' as const),
      notes: each.notes?.map(({ kind, field, reason }) => ({ kind, field, reason })) ?? null,
      price_id: each.priceId ?? null,
      ...encodeBounds(each.bounds),
      held: formatMoney(each.heldNanoUsd),
    })),
    left_out: leftOut.map((each) => ({ ...encodePlace(each), ...wordLeftOut(parts, each) })),
    refusal: refusal === undefined ? null : { code: refusal.code, message: refusal.message },
    cost:
      bounds === undefined
        ? null
        : { ...encodeBounds(bounds), held: isHeld && heldNanoUsd !== undefined ? formatMoney(heldNanoUsd) : null },
    credit: hasCaller ? (affordable?.kind ?? 'unknown') : 'unknown',
  };
}

const words = {
  'not-allowed': 'the key may not use this upstream',
  'other-kind': 'the model there makes something else',
  stateless: 'it does not keep what the call continues',
  condition: 'its conditions do not fit the call',
  inexpressible: 'its interface cannot carry the request',
  failing: 'its last calls failed',
  'rate-limited': 'it asks for fewer calls',
  rejected: 'it refuses the credential',
} as const;

function wordLeftOut({ overrides, gateway }: ModelParts, { target, why }: CallExplanation['leftOut'][number]) {
  if (why.reason !== 'taken-out')
    return {
      reason: why.reason,
      detail: why.detail ?? words[why.reason],
      again_in_ms: why.againInMs === undefined || !Number.isFinite(why.againInMs) ? null : Math.round(why.againInMs),
    };
  const order = findOverride(overrides(), subjectOf(target), gateway.clock.nowMs());
  const detail =
    order === undefined
      ? 'an operator took it out of use'
      : `${order.actor} took it out of use until ${new Date(order.untilMs).toISOString()}: ${order.reason}`;
  return { reason: why.reason, detail, again_in_ms: null };
}
