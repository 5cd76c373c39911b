import type { ApiKey } from '../../../accounts/api-key.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { type InputMeasure, measureInput } from '../../../inference/measure-input.ts';
import type { PricingParameters, Usage } from '../../../inference/usage.ts';
import { type Bytes, joinBytes } from '../../../platform/byte-pieces.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { ChatServices } from './chat-services.ts';
import type { Translation } from './translate/prepare-translation.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { ResponseTurn } from './responses/response-turn.ts';
import {
  type Purchase,
  boundAtTarget,
  boundAtAnyTarget,
  forecastUsage,
  largestWindowTokens,
  initialOutputTokens,
  withSentBound,
  withWholeWindow,
} from '../../attempts/books/bound-call.ts';
import { type CallCredit, type HeldPlan, takeCredit } from '../../admission/credits/call-credit.ts';
import { defaultCredits } from '../../settings/call-settings.ts';
import { StreamBudget } from '../../attempts/books/stream-budget.ts';
import type { CallBound } from '../../../billing/metering/dispute-usage.ts';
import { countInput, useMeters } from '../../../inference/meters.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import type { UsageBound } from '../../attempts/books/settle.ts';

/** A chat with known targets. */
export type ChatPurchase = {
  readonly settings: Pick<GatewaySettings, 'routing' | 'credits' | 'tools' | 'replyCheck'>;
  readonly caller: ApiKey;
  readonly facts: CallFacts;
  readonly targets: readonly Target[];
  /** The framing of streams; undefined if targets are asked for whole replies. */
  readonly framing: StreamFraming | undefined;
  readonly acceptedAtMs: number;
};

/** The same with the request that its cost is bounded by. */
export type RequestedChat = ChatPurchase & { readonly request: WireRequest; readonly turn: ResponseTurn | undefined };

/** A chat with its hold, if its caller has any limit. */
export type HeldChat = Omit<ChatPurchase, 'targets'> & { readonly credit?: CallCredit | undefined };

/**
 * Holds the most that a chat may cost, by the whole conversation that its model may have to read.
 * @param isLoop whether the gateway runs built-in tools for it; called only if its spending is limited
 * @throws GatewayError as `takeCredit` does
 */
export function takeChatCredit(
  gateway: Pick<ChatServices, 'credits' | 'clock'>,
  call: RequestedChat,
  isLoop: () => boolean,
): CallCredit | undefined | Promise<CallCredit | undefined> {
  const { request, turn, caller } = call;
  let plan: HeldPlan | undefined;
  const bound = ({ body }: WireRequest): bigint => {
    plan = { input: measureInput(body), serviceTier: textOf(request.body.service_tier) };
    // Each round of a loop is a stream, even if its client asks for a whole reply.
    return boundChat({ ...call, framing: call.framing ?? (isLoop() ? 'sse' : undefined) }, plan);
  };
  const holding = takeCredit(gateway, caller, call.acceptedAtMs, () => {
    const whole = turn === undefined ? request : turn.whole();
    return whole instanceof Promise ? whole.then(bound) : bound(whole);
  });
  const remember = (credit: CallCredit | undefined): CallCredit | undefined => {
    if (credit !== undefined) credit.plan = plan;
    return credit;
  };
  return holding instanceof Promise ? holding.then(remember) : remember(holding);
}

/** The most that one attempt at a chat costs, at the most expensive of its targets. */
export function boundChat(call: ChatPurchase, plan: HeldPlan): bigint {
  return boundAtAnyTarget(purchaseOf(call, plan), call.targets, (target) => forecastChat(call, plan, target));
}

/** An attempt at a chat: its target, its request, and the parts of the request that decide its price. */
export type ChatAttempt = {
  readonly target: Target;
  readonly plan: { readonly translation?: Pick<Translation, 'upstream' | 'encoded'> };
  readonly pricingParameters: PricingParameters | undefined;
};

/**
 * Extends the hold if it does not cover an attempt whose price depends on its body, or whose request was translated.
 * The bytes that are sent are known only now.
 * @returns the reason if it cannot be covered
 */
export function coverAttempt(call: HeldChat, attempt: ChatAttempt): ReturnType<CallCredit['cover']> {
  const { credit } = call;
  const { target, plan, pricingParameters } = attempt;
  if (credit?.plan === undefined) return undefined;
  if (pricingParameters === undefined && plan.translation === undefined && !mayHaveBeenLoop(call)) return undefined;
  return credit.cover(boundAtTarget(purchaseOf(call, credit.plan), target, boundAttempt(call, credit.plan, attempt)));
}

/** A call whose tools nobody can run becomes a single call: a whole reply, although streams were held for. */
function mayHaveBeenLoop({ facts, framing }: Pick<HeldChat, 'facts' | 'framing'>): boolean {
  return framing === undefined && (facts.builtInTools !== undefined || facts.strictSchema === true);
}

function boundAttempt(call: HeldChat, held: HeldPlan, { target, plan, pricingParameters }: ChatAttempt) {
  return { ...forecastChat({ ...call, facts: factsAsSent(call, plan) }, held, target), pricingParameters };
}

/** A stream without a limit of its client is charged as it flows, even if its upstream gets a limit. */
function factsAsSent({ facts, framing }: Pick<HeldChat, 'facts' | 'framing'>, { translation }: ChatAttempt['plan']): CallFacts {
  if (translation === undefined || (facts.outputTokensMax === undefined && framing !== undefined)) return facts;
  return withSentBound(facts, { dialect: translation.upstream, body: translation.encoded.body });
}

/**
 * The most that an attempt can use by its own request, and its cost: within its hold, if it has one.
 * @param measured the measured request if nothing is held
 * @param readsMore whether its model may read things that the request only names
 */
function boundOfAttempt(
  call: HeldChat,
  attempt: ChatAttempt,
  measured: HeldPlan,
  readsMore: boolean,
): { readonly most: Usage; readonly nanoUsd: bigint } {
  const { target } = attempt;
  const facts = factsAsSent(call, attempt.plan);
  const bounds = forecastUsage({ facts, input: measured.input, outputTokensDefault: undefined }, target);
  const { most } = readsMore ? withWholeWindow(bounds, target, largestWindowTokens) : bounds;
  return { most, nanoUsd: boundAtTarget(purchaseOf(call, measured), target, { most, pricingParameters: attempt.pricingParameters }) };
}

/** Watches the cost of a stream; undefined if nothing is held for it. */
export function createStreamBudget(call: HeldChat, attempt: ChatAttempt): StreamBudget | undefined {
  const { credit } = call;
  if (credit?.plan === undefined) return undefined;
  const { target } = attempt;
  const bounds = boundAttempt(call, credit.plan, attempt);
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

function forecastChat({ facts, settings, framing }: Omit<ChatPurchase, 'targets'>, { input }: HeldPlan, target: Target): UsageBounds {
  const outputTokensDefault = initialOutputTokens(settings.credits ?? defaultCredits, framing !== undefined, target);
  const bounds = forecastUsage({ facts, input, outputTokensDefault }, target);
  // A reply that only the upstream stores may be as long as its model can read.
  return facts.continues === undefined ? bounds : withWholeWindow(bounds, target);
}

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

/** A chat that is about to be sent, with its hold if it has one. */
type SentChat = HeldChat & { readonly turn?: ResponseTurn | undefined };
type SentAttempt = ChatAttempt & { readonly plan: { readonly upstreamRequest: Pick<UpstreamRequest, 'body'> } };

/** A request up to this size is measured. A larger one is bounded by its bytes. */
const measuredBytesMax = 16 * 1024;
/** A report of more input than this is checked, whatever the size of the request. */
const usualInputTokens = 65_536;
const usualOutputTokens = 16_384;
/** The tokens that a vendor may add to a request. They matter for small requests. */
const usualOwnTokens = 256;
/** A report of more uses of a tool than this is checked. */
const usualToolUses = 10;

/**
 * Members that name things which a vendor stores and its model reads, and whose size no request shows: a stored
 * response or conversation, a template, a cache, a container with skills, tools of another server.
 */
const namesStored =
  /"(?:previous_response_id|conversation|prompt|cached_?[cC]ontent|container|mcp_servers|server_url|file_ids?|vector_store_ids)"\s*:/;

/**
 * Bounds the usage of one attempt at a chat. Only an implausible report causes the request of a whole reply to be
 * measured. That of a stream is measured now, because it would stay in memory as long as the stream.
 */
export function boundUsage(call: SentChat, attempt: SentAttempt): UsageBound {
  const { target, pricingParameters } = attempt;
  const { translation } = attempt.plan;
  const { body = noBody } = attempt.plan.upstreamRequest;
  const { credit } = call;
  // The closures below must not keep the body itself in memory.
  const plan = translation === undefined ? {} : { translation };
  const sentBytes = body.length;
  const sent = sumUp(call, body);
  const { outputTokensMax = usualOutputTokens } = call.facts;
  const inputMost = Math.min(sentBytes + usualOwnTokens, usualInputTokens);
  return {
    isSuspicious: (usage, amountNanoUsd) =>
      (usage.outputTokens ?? 0) > outputTokensMax ||
      countInput(usage) > inputMost ||
      useMeters.reduce((sum, meter) => sum + (usage[meter] ?? 0), 0) > usualToolUses ||
      (credit !== undefined && amountNanoUsd > credit.leftNanoUsd),
    find: () => findBound(call, { target, plan, pricingParameters }, Buffer.isBuffer(sent) ? measureSent(call, sent) : sent),
  };
}

const noBody = Buffer.alloc(0);

/** A measured request, and whether it names things that its model may read besides it. */
type Measured = HeldPlan & { readonly namesMore?: boolean };

/** A request as its bound needs it: measured already, or as it is sent. */
function sumUp(call: SentChat, body: Bytes): Measured | Buffer {
  const held = call.credit?.plan;
  if (held !== undefined) return held;
  if (body.length > measuredBytesMax) return { input: boundByBytes(body.length), namesMore: true };
  const sent = joinBytes(body);
  return call.framing === undefined ? sent : measureSent(call, sent);
}

function measureSent({ turn }: SentChat, sent: Buffer): Measured {
  const text = sent.toString();
  const body = parseJsonObject(text);
  const namesMore = turn !== undefined || namesStored.test(text);
  if (body === undefined) return { input: boundByBytes(sent.length), namesMore };
  return { input: measureInput(body), serviceTier: textOf(body.service_tier), namesMore };
}

function findBound(call: SentChat, attempt: ChatAttempt, measured: Measured): CallBound {
  const { facts } = call;
  const readsMore = facts.continues !== undefined || measured.input.files > 0 || measured.namesMore === true;
  return {
    ...boundOfAttempt(call, attempt, measured, readsMore),
    provesCounts: facts.builtInTools === undefined && facts.vendorCompacts !== true,
  };
}

/** A request that is not measured can be text as a whole. */
function boundByBytes(bytes: number): InputMeasure {
  return { textBytes: bytes, images: 0, files: 0, fileBytes: 0, offersTools: true };
}
