import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ChatDialect, Operation, WireRequest } from '../dialects/chat-dialect.ts';
import type { CallOpening } from '../billing/ledger/call-entry.ts';
import type { PriceBook } from '../billing/rating/rating.ts';
import { GatewayError } from '../inference/gateway-error.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { admit } from './admit.ts';
import { authenticate } from './authenticate.ts';
import type { ExchangeObserver } from './exchange/exchange-context.ts';
import { PassthroughExchange } from './exchange/passthrough.ts';
import type { Gateway } from './gateway.ts';
import { prepareRequest } from './prepare-request.ts';
import { readRequest } from './read-request.ts';
import { chooseTarget } from './routing/choose-target.ts';
import type { Target } from './routing/routing-table.ts';
import { type CallTrace, correctReport, settleCall } from './settle.ts';

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

  const caller = await authenticate(call.request, call.queryKeys, gateway.callers);
  const { bytes, body } = await readRequest(call.request, settings.limits);
  const request = toWireRequest(call, body);
  dialect.validateRequest(request, settings.validation);
  const facts = dialect.readFacts(request);
  const target = chooseTarget(settings.routing, dialect, facts);
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const upstreamRequest = prepareRequest({ dialect, request, bytes, facts, target, framing });
  if (upstreamRequest === undefined) throw operationNotOffered(call, target);
  if (response.destroyed) return;

  const observer =
    call.operation === 'generate'
      ? bookingObserver(gateway, target, dialect, settings.routing.priceBook, startedMs, () =>
          admit({
            callId,
            acceptedAtMs,
            caller,
            dialect,
            facts,
            target,
            priceVersion: settings.routing.priceBook.version,
            journal: gateway.journal,
          }),
        )
      : freeObserver;
  const { limits, timeouts } = settings;
  const { clock, logger } = gateway;
  startExchange(
    gateway,
    new PassthroughExchange({ requestId: callId, dialect, request, framing, target, response, limits, timeouts, clock, logger, observer }),
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
  gateway.running.add(exchange);
  gateway.deadlines.watch(exchange);
  response.once('close', () => {
    gateway.running.delete(exchange);
    gateway.deadlines.unwatch(exchange);
  });
  exchange.start(upstreamRequest);
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

/** For operations that cost nothing: no books are kept. */
const freeObserver: ExchangeObserver = { head: () => {}, firstContent: () => {}, progress: () => {}, settled: () => {} };

/** Opens the call in the books and keeps them as the exchange goes on. */
function bookingObserver(
  gateway: Gateway,
  target: Target,
  dialect: ChatDialect,
  priceBook: PriceBook,
  startedMs: number,
  open: () => CallOpening,
): ExchangeObserver {
  const { journal, clock, logger } = gateway;
  const { vendor } = target.upstream;
  const opening = open();
  const { callId } = opening;
  let trace: Omit<CallTrace, 'durationMs'> = {};
  const elapsedMs = (): number => Math.round(clock.monotonicMs() - startedMs);
  return {
    head: (status, upstreamRequestId) => {
      trace = { ...trace, upstreamStatus: status, ...(upstreamRequestId === undefined ? {} : { upstreamRequestId }) };
      journal.head(callId, { status, ...(upstreamRequestId === undefined ? {} : { upstreamRequestId }) });
    },
    firstContent: () => {
      trace = { ...trace, firstByteMs: elapsedMs() };
    },
    progress: (report) => {
      const { usageReport, outputCharacters } = correctReport(report, vendor, dialect.id);
      journal.progress(callId, { ...(usageReport === undefined ? {} : { usage: usageReport.usage }), outputCharacters });
    },
    settled: (outcome) => {
      const corrected = outcome.report === undefined ? outcome : { ...outcome, report: correctReport(outcome.report, vendor, dialect.id) };
      const entry = settleCall(opening, corrected, { ...trace, durationMs: elapsedMs() }, priceBook);
      journal.done(entry);
      const { error } = outcome;
      if (error !== undefined) {
        logger.warn(
          { callId, upstream: entry.upstream, code: error.code, internal: error.internal, end: entry.end },
          'call ended with an error',
        );
      }
    },
  };
}
