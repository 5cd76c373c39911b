import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ChatDialect, Operation, WireRequest } from '../dialects/chat-dialect.ts';
import { GatewayError } from '../inference/gateway-error.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { admit } from './admit.ts';
import { authenticate } from './authenticate.ts';
import { PassthroughExchange } from './exchange/passthrough.ts';
import type { Gateway } from './gateway.ts';
import { keepBooks, noBooks } from './keep-books.ts';
import { prepareRequest } from './prepare-request.ts';
import { readRequest } from './read-request.ts';
import { chooseTarget } from './routing/choose-target.ts';
import type { Target } from './routing/routing-table.ts';

/** A request that a chat route has recognised. */
export type IncomingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly dialect: ChatDialect;
  readonly operation: Operation;
  readonly queryKeys: readonly string[];
  readonly pathModel?: string;
  readonly pathFraming?: StreamFraming;
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
  const { bytes, body } = await readRequest(call.request, settings.limits);
  const request = toWireRequest(call, body);
  dialect.validateRequest(request, settings.validation);
  const facts = dialect.readFacts(request);
  if (facts.continues !== undefined) await gateway.replyOwners.check(facts.continues, caller.userName);
  const target = chooseTarget(settings.routing, dialect, facts);
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const upstreamRequest = prepareRequest({ dialect, request, bytes, facts, target, framing });
  if (upstreamRequest === undefined) throw operationNotOffered(call, target);
  if (response.destroyed) return;

  const { priceBook } = settings.routing;
  const observer =
    call.operation === 'count-tokens'
      ? noBooks
      : keepBooks({
          gateway,
          opening: await admit({
            callId,
            acceptedAtMs,
            caller,
            dialect,
            facts,
            target,
            priceVersion: priceBook.version,
            journal: gateway.journal,
          }),
          dialect,
          priceBook,
          startedMs,
          vendor: target.upstream.vendor,
          keepsReply: facts.keepsReply === true,
        });
  const { limits, timeouts } = settings;
  const { clock, logger } = gateway;
  startExchange(
    gateway,
    new PassthroughExchange({
      requestId: callId,
      dialect,
      request: keepForReply(request, framing),
      framing,
      target,
      response,
      limits,
      timeouts,
      clock,
      logger,
      observer,
    }),
    upstreamRequest,
    response,
  );
}

function startExchange(
  gateway: Gateway,
  exchange: PassthroughExchange,
  upstreamRequest: NonNullable<ReturnType<typeof prepareRequest>>,
  response: ServerResponse,
): void {
  if (!response.destroyed) {
    const slot = gateway.deadlines.watch(exchange);
    response.on('close', () => gateway.deadlines.unwatch(slot));
  }
  exchange.start(upstreamRequest);
}

/** A whole reply is read without its request, and a large request that stays until the reply comes is copied by every collection meanwhile. */
function keepForReply(request: WireRequest, framing: StreamFraming | undefined): WireRequest {
  return framing === undefined ? { ...request, body: {} } : request;
}

function toWireRequest(call: IncomingCall, body: WireRequest['body']): WireRequest {
  return {
    operation: call.operation,
    body,
    // Node joins repeated headers into one string; only set-cookie, which no client sends, would be a list.
    headers: call.request.headers as WireRequest['headers'],
    ...(call.pathModel === undefined ? {} : { pathModel: call.pathModel }),
    ...(call.pathFraming === undefined ? {} : { pathFraming: call.pathFraming }),
  };
}

function operationNotOffered(call: IncomingCall, target: Target): GatewayError {
  return new GatewayError(
    'dialect_not_supported',
    `the upstream of this model (${target.upstream.vendor.title}) offers no ${call.operation}`,
    { param: 'model' },
  );
}
