import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { GatewayError } from '../../inference/gateway-error.ts';
import { type ConnectionGuard, guardConnections, type SlowBody } from '../../platform/http/connection-guard.ts';
import { DirectReply } from '../../platform/http/direct-reply.ts';
import { DirectRequest } from '../../platform/http/direct-request.ts';
import { isTransientFailure } from '../../platform/transient-failure.ts';
import { checkHost, readRequestTarget, type RequestTarget } from '../admission/read-request.ts';
import type { IncomingCall } from '../endpoints/chat/incoming-call.ts';
import { runCall } from '../endpoints/chat/run-call.ts';
import { createResponseSockets, type ResponseSockets } from '../endpoints/chat/websocket/response-sockets.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import { findRoute, wordingOfPath } from '../endpoints/registry.ts';
import type { EndpointRequest } from '../endpoints/shared/endpoint.ts';
import type { Wording } from '../endpoints/shared/wording.ts';
import type { ClientReply } from '../replies/client-reply.ts';
import { writeError } from '../replies/write-reply.ts';
import { bodyPace, serverSettings } from './client-pace.ts';
import { createDrain, type Drain, type DrainPlan } from './drain.ts';
import { serveOnce } from './idempotency/serve-once.ts';
import { refuseExpectation, refuseMalformed } from './refuse-malformed.ts';
import { describeNoRoute } from './routes/describe-no-route.ts';

const second = 1000;

export type GatewayServer = {
  /** Begins to serve. Port 0 chooses a free one. Resolves with the address in use. */
  readonly listen: (host: string, port: number) => Promise<{ readonly host: string; readonly port: number }>;
  /** Serves connections that another process accepted and hands over, instead of listening. */
  readonly serveHandedOver: () => (socket: Socket) => void;
  /** Serves one connection more, which this process accepted elsewhere. */
  readonly serveConnection: (socket: Socket) => void;
  /** Ends the server: running calls may finish within the grace, the rest end with their dialect's error. */
  readonly end: Pick<Drain, 'leave' | 'run'>;
};

export type GatewayServerOptions = {
  readonly gateway: Gateway;
  /** Reasons why the gateway should receive no traffic now. Empty if it is ready. */
  readonly notReady: () => readonly string[];
  readonly startedAtMs: number;
};

/** A request under way. Its reply may be replaced by one that is recorded. */
type Handled = Omit<EndpointRequest, 'response'> & { response: ClientReply };

/** The target of a request without a valid one. */
const noTarget: RequestTarget = { path: '/', query: new URLSearchParams(), queryKeys: [] };

/**
 * The HTTP server of the gateway: finds the route of each request, and answers the errors of routes in the client's
 * dialect.
 */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { gateway, startedAtMs } = options;
  const state = { startedAtMs, notReadyReasons: () => [...(end.isLeaving() ? ['shutting down'] : []), ...options.notReady()] };

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const callId = gateway.newId('req');
    guard.begin(request, response);
    const target = readRequestTarget(request.url ?? '/') ?? noTarget;
    response.on('error', (error) => gateway.logger.debug({ callId, err: error }, 'client connection failed'));
    const handled: Handled = { request, client: response, response, callId, target, report: undefined, server: state };
    const answer = (error: unknown): void => {
      const refusal = error instanceof GatewayError ? error : describeUnexpected(gateway, callId, error);
      if (refusal.class === 'authentication') gateway.gatekeeper.wasRefused(request, 0);
      const wording = wordingOfPath(target.path, request.headers);
      handled.report ??= gateway.telemetry.begin({ callId, dialect: wording.label, request, response: handled.response });
      handled.report.refused(refusal);
      writeRefusal(handled, wording, refusal);
    };
    try {
      if (end.isLeaving()) end.admit(response);
      serve(handled)?.catch(answer);
    } catch (error) {
      answer(error);
    }
  };

  const serve = (handled: Handled): Promise<void> | undefined => {
    const { request, target } = handled;
    if (target === noTarget)
      throw new GatewayError('invalid_url', 'the request target must be a path that begins with "/", without a fragment');
    checkHost(request);
    const match = findRoute(request.method ?? 'GET', target.path);
    if (!match.found) throw describeNoRoute(request.method, target.path, match, findRoute);
    const { serve: serveRoute, identifiedBy } = match.route;
    const { idempotency } = gateway;
    if (idempotency === undefined || identifiedBy === undefined || !isNamed(request)) return serveRoute(gateway, handled, match);
    const run = (): Promise<void> | undefined => serveRoute(gateway, handled, match);
    return serveOnce(gateway, idempotency, handled, { identifiedBy, target, run });
  };

  const server = createServer(
    { ...serverSettings, IncomingMessage: DirectRequest, ServerResponse: DirectReply, shouldUpgradeCallback: opensWebSocket },
    onRequest,
  );
  const guard = guardClients(server, gateway);
  const sockets = createResponseSockets({
    gateway,
    run: (call) => runReported(gateway, call),
    voiceOfPath: (path, headers) => wordingOfPath(path, headers).voice,
  });
  server.on('upgrade', sockets.upgrade);
  server.on('checkExpectation', (_request, response) => refuseExpectation(gateway, response));
  server.on('clientError', (error, socket) => refuseMalformed(error, socket, gateway));
  const end = createDrain({ server, gateway });
  return {
    listen: (host, port) => listen(server, host, port),
    serveHandedOver: () => {
      // Node watches the time-outs of connections only after `listening`, and this server never listens.
      server.emit('listening');
      return (socket) => void server.emit('connection', socket);
    },
    serveConnection: (socket) => void server.emit('connection', socket),
    end: { ...end, run: (plan) => endAll(plan, { end, sockets, gateway }).finally(guard.close) },
  };
}

/** Ends the connections, including WebSockets and those that follow videos, and the background responses. */
async function endAll(
  plan: DrainPlan,
  { end, sockets, gateway }: { readonly end: Drain; readonly sockets: ResponseSockets; readonly gateway: Gateway },
): Promise<void> {
  sockets.end(plan.graceMs);
  gateway.videos?.leaving.abort();
  await Promise.all([end.run(plan), gateway.background?.end(plan.graceMs), gateway.idempotency?.settled(plan.graceMs)]);
}

/**
 * Whether a request wants to change to a WebSocket. Other upgrades are ignored, as RFC 9110 (7.8) permits: HTTP clients
 * of Java ask for HTTP/2 (`h2c`) with their first request, and expect its answer.
 */
function opensWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Answers a refused request in the wording of its path, and in the framing of a requested stream. */
function writeRefusal(
  { response, target, callId }: Pick<Handled, 'response' | 'target' | 'callId'>,
  { voice, framing }: Wording,
  error: GatewayError,
): void {
  writeError(response, voice, error, callId, framing?.(target.query));
}

function guardClients(server: Server, gateway: Gateway): ConnectionGuard {
  return guardConnections(server, {
    clock: gateway.clock,
    pace: bodyPace,
    tickMs: second,
    connectionsMax: () => gateway.settings().limits.connectionsMax,
    onSlow: (slow) => refuseSlowBody(slow, gateway.newId('req')),
  });
}

/**
 * Answers a client whose body comes too slowly, and ends its connection: the rest would be read as the next request.
 */
function refuseSlowBody({ request, response, reason }: SlowBody, callId: string): void {
  const target = readRequestTarget(request.url ?? '/') ?? noTarget;
  const error = new GatewayError('request_timeout', reason, { headers: { connection: 'close' } });
  writeRefusal({ response, target, callId }, wordingOfPath(target.path, request.headers), error);
  // Node forgets an answered request: a reader of its body would wait forever, with the data that it holds.
  request.socket.once('close', () => request.destroy());
  // The answer is sent before the sending side ends. A client that does not read it is not waited for.
  request.socket.destroySoon();
  setTimeout(() => request.socket.destroy(), second).unref();
}

/**
 * Connections that may wait to be accepted, if the system allows as many. A full queue refuses every caller, whatever
 * its share.
 */
const acceptQueue = 4096;

function listen(server: Server, host: string, port: number): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, acceptQueue, () => {
      server.off('error', reject);
      const address = server.address() as AddressInfo;
      resolve({ host: address.address, port: address.port });
    });
  });
}

/** Long enough that many clients do not retry a failed store at once. */
const storageRetrySeconds = 5;

/** Runs a call that is not an HTTP request of its own, and answers its refusal. */
function runReported(gateway: Gateway, call: IncomingCall): void {
  const { callId, dialect, operation, request, response } = call;
  const report = gateway.telemetry.begin({ callId, dialect: dialect.id, operation, request, response });
  runCall(gateway, call, report).catch((error: unknown) => {
    const refusal = error instanceof GatewayError ? error : describeUnexpected(gateway, callId, error);
    report.refused(refusal);
    writeError(response, dialect.voice, refusal, callId);
  });
}

/**
 * The client's error for an unexpected failure: temporary if the store is unavailable or full, and otherwise a bug. The
 * log has both.
 */
function describeUnexpected({ logger }: Pick<Gateway, 'logger'>, callId: string, error: unknown): GatewayError {
  if (isTransientFailure(error)) {
    logger.error({ callId, err: error }, 'call refused because the store is unavailable');
    const message = `the gateway cannot use its storage at the moment; try again (${callId})`;
    return new GatewayError('storage_unavailable', message, { retryAfterSeconds: storageRetrySeconds, cause: error });
  }
  logger.error({ callId, err: error }, 'call failed inside the gateway');
  return new GatewayError('internal_error', `the gateway failed on this call (${callId}); it is in the operator's log`, { cause: error });
}

/** Whether the client has named its request with an idempotency key. */
function isNamed({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && (headers['idempotency-key'] ?? headers['x-idempotency-key']) !== undefined;
}
