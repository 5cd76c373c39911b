import type { ApiKey } from '../../accounts/api-key.ts';
import type { WireRequest } from '../../dialects/chat-dialect.ts';
import type { UsageBounds } from '../../billing/metering/estimate-usage.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import { measureInput } from '../../inference/measure-input.ts';
import type { PricingParameters } from '../../inference/usage.ts';
import { textOf } from '../../platform/json/json-readers.ts';
import type { Gateway, GatewaySettings } from '../gateway.ts';
import type { Target } from '../routing/routing-table.ts';
import type { ResponseTurn } from '../stored-responses/response-turn.ts';
import { boundAtTarget, boundDearest, forecastUsage, type Purchase } from './bound-call.ts';
import { type CallCredit, type HeldPlan, takeCredit } from './call-credit.ts';
import { defaultCredits } from './credit-settings.ts';
import { StreamBudget } from './stream-budget.ts';

/** A chat whose targets are known. */
export type ChatPurchase = {
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  readonly facts: CallFacts;
  readonly targets: readonly Target[];
  readonly acceptedAtMs: number;
};

/** A chat for which something is held, where anything limits what its caller spends. */
type HeldChat = Omit<ChatPurchase, 'targets'> & { readonly credit?: CallCredit | undefined };

/** Sets aside what a chat may cost at most, by the whole conversation that its model may have to read. @throws GatewayError as `takeCredit` does */
export function takeChatCredit(
  gateway: Pick<Gateway, 'credits' | 'clock'>,
  call: ChatPurchase & { readonly request: WireRequest; readonly turn: ResponseTurn | undefined },
): CallCredit | undefined | Promise<CallCredit | undefined> {
  const { request, turn, caller } = call;
  let plan: HeldPlan | undefined;
  const bound = ({ body }: WireRequest): bigint => {
    plan = { input: measureInput(body), serviceTier: textOf(request.body.service_tier) };
    return boundChat(call, plan);
  };
  const taken = takeCredit(gateway, caller, call.acceptedAtMs, () => {
    const whole = turn === undefined ? request : turn.whole();
    return whole instanceof Promise ? whole.then(bound) : bound(whole);
  });
  const remember = (credit: CallCredit | undefined): CallCredit | undefined => {
    if (credit !== undefined) credit.plan = plan;
    return credit;
  };
  return taken instanceof Promise ? taken.then(remember) : remember(taken);
}

/** What asking for a chat once costs at most, wherever of its targets it is answered. */
export function boundChat(call: ChatPurchase, plan: HeldPlan): bigint {
  return boundDearest(purchaseOf(call, plan), call.targets, (target) => forecastChat(call, plan, target));
}

/**
 * Sees to it that what is held covers an attempt whose price depends on what is in its body: only now is known what that is.
 * @returns the reason why it does not
 */
export function coverPriced(
  call: HeldChat,
  target: Target,
  pricingParameters: PricingParameters | undefined,
): ReturnType<CallCredit['cover']> {
  const { credit } = call;
  if (credit?.plan === undefined || pricingParameters === undefined) return undefined;
  const bounds = { ...forecastChat(call, credit.plan, target), pricingParameters };
  return credit.cover(boundAtTarget(purchaseOf(call, credit.plan), target, bounds).maximumNanoUsd);
}

/** Watches what a stream of a chat costs; undefined where nothing is held for it. */
export function createStreamBudget(
  call: HeldChat,
  target: Target,
  pricingParameters: PricingParameters | undefined,
): StreamBudget | undefined {
  const { credit } = call;
  if (credit?.plan === undefined) return undefined;
  const bounds = { ...forecastChat(call, credit.plan, target), pricingParameters };
  const settings = call.settings.credits ?? defaultCredits;
  return new StreamBudget({
    credit,
    settings,
    purchase: purchaseOf(call, credit.plan),
    target,
    bounds,
    isBounded: call.facts.outputTokensMax !== undefined,
  });
}

function forecastChat({ facts, settings }: Pick<ChatPurchase, 'facts' | 'settings'>, { input }: HeldPlan, target: Target): UsageBounds {
  const { outputTokensDefault } = settings.credits ?? defaultCredits;
  const bounds = forecastUsage({ facts, input, outputTokensDefault }, target);
  if (facts.continues === undefined) return bounds;
  // A reply that only the upstream keeps may be as long as its model can read.
  const window = target.upstream.traitsOf(target.upstreamModel).contextTokensMax ?? unknownWindowTokens;
  return { ...bounds, most: { ...bounds.most, inputTokens: Math.max(window, bounds.most.inputTokens ?? 0) } };
}

const unknownWindowTokens = 200_000;

function purchaseOf({ settings, caller, facts, acceptedAtMs }: Omit<ChatPurchase, 'targets'>, { serviceTier }: HeldPlan): Purchase {
  return {
    priceBook: settings.routing.priceBook,
    requestedModel: facts.requestedModel,
    acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
    serviceTier,
  };
}
