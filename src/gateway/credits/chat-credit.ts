import type { ApiKey } from '../../accounts/api-key.ts';
import type { WireRequest } from '../../dialects/chat-dialect.ts';
import type { UsageBounds } from '../../billing/metering/estimate-usage.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import { type InputMeasure, measureInput } from '../../inference/measure-input.ts';
import type { Gateway, GatewaySettings } from '../gateway.ts';
import type { Target } from '../routing/routing-table.ts';
import type { ResponseTurn } from '../stored-responses/response-turn.ts';
import { boundDearest, forecastUsage, type Purchase } from './bound-call.ts';
import { type CallCredit, takeCredit } from './call-credit.ts';
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

/** Sets aside what a chat may cost at most, by the whole conversation that its model may have to read. @throws GatewayError as `takeCredit` does */
export function takeChatCredit(
  gateway: Pick<Gateway, 'credits' | 'clock'>,
  call: ChatPurchase & { readonly request: WireRequest; readonly turn: ResponseTurn | undefined },
): CallCredit | undefined | Promise<CallCredit | undefined> {
  const { request, turn, caller } = call;
  let input: InputMeasure | undefined;
  const bound = (whole: WireRequest): bigint => boundChat(call, (input = measureInput(whole.body)));
  const taken = takeCredit(gateway, caller, call.acceptedAtMs, () => {
    const whole = turn === undefined ? request : turn.whole();
    return whole instanceof Promise ? whole.then(bound) : bound(whole);
  });
  const remember = (credit: CallCredit | undefined): CallCredit | undefined => {
    if (credit !== undefined) credit.input = input;
    return credit;
  };
  return taken instanceof Promise ? taken.then(remember) : remember(taken);
}

/** What asking for a chat once costs at most. @param input how large what the model reads is */
export function boundChat(call: ChatPurchase, input: InputMeasure): bigint {
  return boundDearest(purchaseOf(call), call.targets, (target) => forecastChat(call, input, target));
}

/** Watches what a stream of a chat costs; undefined where nothing is held for it. */
export function createStreamBudget(
  call: Omit<ChatPurchase, 'targets'>,
  credit: CallCredit | undefined,
  target: Target,
): StreamBudget | undefined {
  if (credit?.input === undefined) return undefined;
  const bounds = forecastChat(call, credit.input, target);
  const settings = call.settings.credits ?? defaultCredits;
  return new StreamBudget({
    credit,
    settings,
    purchase: purchaseOf(call),
    target,
    bounds,
    isBounded: call.facts.outputTokensMax !== undefined,
  });
}

function forecastChat({ facts, settings }: Pick<ChatPurchase, 'facts' | 'settings'>, input: InputMeasure, target: Target): UsageBounds {
  const { outputTokensDefault } = settings.credits ?? defaultCredits;
  const bounds = forecastUsage({ facts, input, outputTokensDefault }, target);
  if (facts.continues === undefined) return bounds;
  // A reply that only the upstream keeps may be as long as its model can read.
  const window = target.upstream.traitsOf(target.upstreamModel).contextTokensMax ?? unknownWindowTokens;
  return { ...bounds, most: { ...bounds.most, inputTokens: Math.max(window, bounds.most.inputTokens ?? 0) } };
}

const unknownWindowTokens = 200_000;

function purchaseOf({ settings, caller, facts, acceptedAtMs }: Omit<ChatPurchase, 'targets'>): Purchase {
  return {
    priceBook: settings.routing.priceBook,
    requestedModel: facts.requestedModel,
    acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
  };
}
