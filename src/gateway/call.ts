import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ApiKey } from '../accounts/api-key.ts';
import type { CallOpening } from '../billing/ledger/call-entry.ts';
import type { PriceBook } from '../billing/rating/rating.ts';
import type { ChatDialect, Operation, WireRequest } from '../dialects/chat-dialect.ts';
import type { CallFacts } from '../inference/call-facts.ts';
import type { TranslationNote } from '../inference/translation-notes.ts';
import type { UpstreamRequest } from '../platform/http/upstream-client.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { admit } from './admit.ts';
import { authenticate } from './authenticate.ts';
import type { ExchangeObserver } from './exchange/exchange-context.ts';
import { UpstreamExchange } from './exchange/upstream-exchange.ts';
import { requestIdHeader } from './exchange/reply-headers.ts';
import { tokenCountHeader } from './exchange/translate/count-relay.ts';
import type { Gateway, GatewaySettings } from './gateway.ts';
import { keepBooks, noBooks } from './keep-books.ts';
import { checkCaller, mayCall } from './limits/check-caller.ts';
import { countUsedTokens, endWithCall, reserveCall, type TakenLimits, withOwnLimits } from './limits/reserve-call.ts';
import { type ExchangePlan, planExchange } from './plan-exchange.ts';
import { readRequest } from './read-request.ts';
import { chooseTarget, unknownModel } from './routing/choose-target.ts';
import type { Target } from './routing/routing-table.ts';
import { writeReply } from './write-reply.ts';

/** A request that a chat route has recognised. */
export type IncomingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly dialect: ChatDialect;
  readonly operation: Operation;
  readonly queryKeys: readonly string[];
  readonly pathModel?: string | undefined;
  readonly pathFraming?: StreamFraming | undefined;
};

/**
 * The road of one call, from its head to the moment its exchange runs; the exchange goes on by itself and settles the call. Every refusal on the
 * way is thrown as a GatewayError before anything was spent.
 */
export async function runCall(gateway: Gateway, call: IncomingCall): Promise<void> {
  const acceptedAtMs = gateway.clock.nowMs();
  const startedMs = gateway.clock.monotonicMs();
  const { dialect, callId, response } = call;
  const settings = gateway.settings();

  const known = authenticate(call.request, call.queryKeys, gateway.callers);
  const caller = known instanceof Promise ? await known : known;
  checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
  const { bytes, body } = await readRequest(call.request, settings.limits);
  const request = toWireRequest(call, body);
  dialect.validateRequest(request, settings.validation);
  const facts = dialect.readFacts(request);
  if (facts.continues !== undefined) await gateway.replyOwners.check(facts.continues, caller.userName);
  if (!mayCall(caller, facts.requestedModel)) throw unknownModel(facts.requestedModel);
  const target = chooseTarget(settings.routing, dialect, facts);
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const taking = takeLimits(gateway, call, { settings, caller, facts, target });
  const taken = taking instanceof Promise ? await taking : taking;
  try {
    const planned = planExchange({
      gateway,
      requestId: callId,
      dialect,
      request,
      bytes,
      facts,
      target,
      framing,
      caller,
      acceptedAtMs,
      hasLeft: () => response.destroyed,
    });
    // A call that passes through is planned at once and does not give up its turn.
    const plan = planned instanceof Promise ? await planned : planned;
    if (response.destroyed) return taken?.reservation.release();
    if (plan.kind === 'estimate') return answerCount(call, plan.inputTokens);

    const { limits, timeouts } = settings;
    const { clock, logger } = gateway;
    const { priceBook } = settings.routing;
    const admitted = { plan, caller, facts, target, acceptedAtMs, startedMs, priceBook, taken };
    const opening = call.operation === 'count-tokens' ? undefined : await admitCall(gateway, call, admitted);
    const observer = opening === undefined ? noBooks : followCall(gateway, call, admitted, opening);
    startExchange(
      gateway,
      new UpstreamExchange({
        requestId: callId,
        dialect,
        relay: taken === undefined ? plan.relay : withOwnLimits(plan.relay, taken),
        framing,
        target,
        response,
        limits,
        timeouts,
        clock,
        logger,
        observer,
      }),
      plan.upstreamRequest,
      response,
    );
  } catch (error) {
    // What was taken for a call that is not made is given back; after its exchange has ended there is nothing left to give.
    taken?.reservation.release();
    throw error;
  }
}

/** Takes what the call needs of the limits that concern it; counting tokens is not limited. @throws GatewayError `rate_limited` */
function takeLimits(
  { limiter, clock }: Gateway,
  { operation, dialect }: IncomingCall,
  known: { readonly settings: GatewaySettings; readonly caller: ApiKey; readonly facts: CallFacts; readonly target: Target },
): TakenLimits | Promise<TakenLimits> | undefined {
  if (operation === 'count-tokens') return undefined;
  const { settings, caller, facts, target } = known;
  return reserveCall({ limiter, clock, dialect, caller, perKey: settings.perKey, facts, target });
}

/** What is known of a call when it goes into the books. */
type AdmittedCall = {
  readonly plan: ExchangePlan;
  readonly caller: ApiKey;
  readonly facts: CallFacts;
  readonly target: Target;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  readonly priceBook: PriceBook;
  readonly taken: TakenLimits | undefined;
};

/** Opens a call in the books. */
function admitCall(gateway: Gateway, { callId, dialect }: IncomingCall, admitted: AdmittedCall): Promise<CallOpening> {
  const { plan, caller, facts, target, acceptedAtMs, priceBook } = admitted;
  const { translation } = plan;
  return admit({
    callId,
    acceptedAtMs,
    caller,
    dialect,
    facts,
    target,
    priceVersion: priceBook.version,
    journal: gateway.journal,
    translation: translation === undefined ? undefined : { upstreamDialect: translation.upstream.id, notes: translation.notes.list() },
  });
}

/** Returns what follows the exchange of a call that is in the books. */
function followCall(gateway: Gateway, { response }: IncomingCall, admitted: AdmittedCall, opening: CallOpening): ExchangeObserver {
  const { plan, facts, target, startedMs, priceBook, taken } = admitted;
  const { translation } = plan;
  const books = keepBooks({
    gateway,
    opening,
    upstreamDialect: plan.upstreamDialect.id,
    priceBook,
    startedMs,
    vendor: target.upstream.vendor,
    // A translated reply is kept by nobody under the id that the client sees.
    keepsReply: facts.keepsReply === true && translation === undefined,
    replyNotes: translation === undefined ? noNotes : () => translation.replyNotes.list(),
    used: taken === undefined ? undefined : (usage) => taken.reservation.settle(countUsedTokens(usage)),
  });
  return taken === undefined ? books : endWithCall(books, taken, response);
}

const noNotes = (): readonly TranslationNote[] => [];

/** Answers a token count that no upstream can make. */
function answerCount({ dialect, response, callId }: IncomingCall, inputTokens: number): void {
  const body = dialect.codec.encodeCount?.(inputTokens);
  if (body === undefined) throw new Error(`${dialect.id} has a counter and no words for its answer`);
  const headers = { 'content-type': 'application/json; charset=utf-8', [requestIdHeader]: callId, [tokenCountHeader]: 'estimate' };
  writeReply(response, 200, headers, Buffer.from(JSON.stringify(body)));
}

function startExchange(gateway: Gateway, exchange: UpstreamExchange, upstreamRequest: UpstreamRequest, response: ServerResponse): void {
  // A client may leave while its call is written down.
  if (response.destroyed) return exchange.start(upstreamRequest);
  const slot = gateway.deadlines.watch(exchange);
  exchange.start(upstreamRequest, () => gateway.deadlines.unwatch(slot));
}

function toWireRequest(call: IncomingCall, body: WireRequest['body']): WireRequest {
  return {
    operation: call.operation,
    body,
    // Node joins repeated headers into one string; only set-cookie, which no client sends, would be a list.
    headers: call.request.headers as WireRequest['headers'],
    pathModel: call.pathModel,
    pathFraming: call.pathFraming,
  };
}
