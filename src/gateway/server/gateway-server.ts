import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { DialectId } from '../../dialects/dialect-id.ts';
import { chatDialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import { type ConnectionGuard, guardConnections, type SlowBody } from '../../platform/http/connection-guard.ts';
import { DirectRequest } from '../../platform/http/direct-request.ts';
import { closeIfSilent } from '../../platform/http/silent-connection.ts';
import { isAudioPath } from '../endpoints/audio/audio-voice.ts';
import { serveAudio } from '../endpoints/audio/serve-audio.ts';
import { authenticate } from '../admission/authenticate.ts';
import { runCall } from '../endpoints/chat/run-call.ts';
import { serveCallbacks } from '../endpoints/account/serve-callbacks.ts';
import { checkHost } from '../admission/check-host.ts';
import { bodyPace, serverSettings } from './client-pace.ts';
import { serveStoredObject } from '../endpoints/stored-objects/serve-stored-objects.ts';
import type { StoredObjectRequest, StoredObjectRoute } from '../endpoints/stored-objects/stored-objects.ts';
import { createDrain, type Drain, type DrainPlan } from './drain.ts';
import { serveEmbeddings } from '../endpoints/embeddings/serve-embeddings.ts';
import { serveCredits } from '../endpoints/account/serve-credits.ts';
import { serveQuote } from '../endpoints/quotes/serve-quote.ts';
import { serveReceipt } from '../endpoints/account/serve-receipt.ts';
import type { ClientReply } from '../replies/client-reply.ts';
import { serveFiles } from '../endpoints/files/serve-files.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import { mayBeRepeated, serveOnce } from './idempotency/serve-once.ts';
import { checkCaller, mayCall } from '../admission/check-caller.ts';
import { enterGate } from '../admission/overload/enter-gate.ts';
import { readAltFraming, readRequestTarget, type RequestTarget } from '../admission/request-target.ts';
import { describeNoRoute } from './routes/describe-no-route.ts';
import { voiceOfPath } from '../endpoints/voice-of-path.ts';
import { readCall } from '../endpoints/chat/read-call.ts';
import { createRouter, type Route, type RouteMatch } from '../endpoints/route-table.ts';
import { dialectOfPath } from '../endpoints/chat/dialect-of-path.ts';
import { describeHealth } from './routes/describe-health.ts';
import { listModels, showModel } from '../endpoints/models/serve-models.ts';
import type { CallLabel, CallReport } from '../telemetry/call-report.ts';
import { serveVideos } from '../endpoints/videos/serve-videos.ts';
import { isVideoPath, makesVideo } from '../endpoints/videos/video-routes.ts';
import { writeError, writeReply } from '../replies/write-reply.ts';
import { requestIdHeader } from '../replies/reply-headers.ts';
import { describeUnexpected, runReported } from './run-reported.ts';
import { createResponseSockets, type ResponseSockets } from '../endpoints/chat/websocket/response-sockets.ts';

const second = 1000;

export type GatewayServer = {
  /** Begins to serve. Port 0 picks a free one. Resolves with the address in use. */
  readonly listen: (host: string, port: number) => Promise<{ readonly host: string; readonly port: number }>;
  /** Serves connections that another process took and hands over one by one, instead of listening. */
  readonly serveHandedOver: () => (socket: Socket) => void;
  /** Its end: running calls may finish within the grace, the rest end with their dialect's error. */
  readonly end: Pick<Drain, 'leave' | 'run'>;
};

export type GatewayServerOptions = {
  readonly gateway: Gateway;
  /** Reasons why the gateway should get no traffic at the moment; empty when it is ready. */
  readonly notReady: () => readonly string[];
  readonly startedAtMs: number;
};

/** A request and what becomes of it. The report is there once it is known to be a call. */
type Handled = {
  readonly request: IncomingMessage;
  readonly client: ServerResponse;
  /** Where its reply goes: to the client, or to what stands before it. */
  response: ClientReply;
  readonly callId: string;
  report: CallReport | undefined;
};

type ModelsRoute = Extract<Route, { type: 'models' | 'model' }>;

/** The HTTP server of the gateway: finds the route of each request, and answers whatever a route throws in the client's dialect. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { gateway } = options;
  const findRoute = createRouter();

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const callId = gateway.newId('req');
    guard.begin(request, response);
    const target = readRequestTarget(request.url ?? '/');
    const path = target?.path ?? '/';
    response.on('error', (error) => gateway.logger.debug({ callId, err: error }, 'client connection failed'));
    const handled: Handled = { request, client: response, response, callId, report: undefined };
    const answer = (error: unknown): void => {
      const known = error instanceof GatewayError ? error : describeUnexpected(gateway, callId, error);
      if (known.class === 'authentication') gateway.gatekeeper.wasRefused(request, 0);
      handled.report ??= gateway.telemetry.begin({ ...handled, dialect: labelOfPath(path, dialectOfPath(path, request.headers)) });
      handled.report.refused(known);
      writeError(handled.response, voiceOfPath(path, request.headers), known, callId, askedFraming(target, request.headers));
    };
    try {
      if (end.isLeaving()) end.admit(response);
      serve(handled, target)?.catch(answer);
    } catch (error) {
      answer(error);
    }
  };

  const serve = (handled: Handled, target: RequestTarget | undefined): Promise<void> | undefined => {
    const { request } = handled;
    if (target === undefined)
      throw new GatewayError('invalid_url', 'the request target must be a path that begins with "/", without a fragment');
    checkHost(request);
    const match = findRoute(request.method ?? 'GET', target.path);
    if (!match.found) throw describeNoRoute(request.method, target.path, match, findRoute);
    const { route } = match;
    const run = (): Promise<void> | undefined => serveRoute(options, end, handled, { target, match, findRoute });
    if (gateway.idempotency === undefined || !mayBeRepeated(request, route)) return run();
    return serveOnce(gateway, gateway.idempotency, handled, { route, target, run });
  };

  const server = createServer({ ...serverSettings, IncomingMessage: DirectRequest }, onRequest);
  const guard = guardClients(server, gateway);
  const sockets = createResponseSockets({ gateway, run: (call) => runReported(gateway, call) });
  server.on('upgrade', sockets.upgrade);
  server.on('clientError', (error, socket) => refuseMalformed(error, socket, gateway));
  const end = createDrain({ server, gateway });
  return {
    listen: (host, port) => listen(server, host, port),
    serveHandedOver: () => {
      // Node begins to watch the time-outs of a server's connections when it listens, which this one never does.
      server.emit('listening');
      return (socket) => void server.emit('connection', socket);
    },
    end: { ...end, run: (plan) => endAll(plan, { end, sockets, gateway }).finally(guard.close) },
  };
}

/** Serves what a path means. Undefined where the answer has been written. */
function serveRoute(
  options: GatewayServerOptions,
  end: Pick<Drain, 'isLeaving'>,
  handled: Handled,
  {
    target,
    match,
    findRoute,
  }: {
    readonly target: RequestTarget;
    readonly match: Extract<RouteMatch, { found: true }>;
    readonly findRoute: ReturnType<typeof createRouter>;
  },
): Promise<void> | undefined {
  const { gateway } = options;
  const { request, response, callId } = handled;
  const { route } = match;
  if (route.type === 'root') {
    writeJson(response, 200, callId, { name: 'weir', health: '/health', models: '/v1/models' });
    return undefined;
  }
  if (route.type === 'health') {
    const { status, state } = describeHealth(route.probe, gateway.health, [
      ...(end.isLeaving() ? ['shutting down'] : []),
      ...options.notReady(),
    ]);
    writeJson(response, status, callId, state);
    return undefined;
  }
  if (route.type === 'chat' || route.type === 'generate-content') {
    const call = readCall(route, match.rest, target, handled);
    handled.report = gateway.telemetry.begin({ callId, dialect: call.dialect.id, operation: call.operation, request, response });
    return runCall(gateway, call, handled.report);
  }
  if (route.type === 'stored') return serveStored(gateway, { request, response, callId, target }, route.stored, match.params);
  if (isBesides(route)) return serveBesides(gateway, { route, params: match.params, findRoute }, handled, target);
  const dialect = route.dialect ?? dialectOfPath(target.path, request.headers);
  return serveModels(options, { request, response, callId, target }, { route, rest: match.rest, dialect });
}

/** Ends the connections, those that are WebSockets or follow videos among them, and the responses that are generated without one. */
async function endAll(
  plan: DrainPlan,
  { end, sockets, gateway }: { readonly end: Drain; readonly sockets: ResponseSockets; readonly gateway: Gateway },
): Promise<void> {
  sockets.end(plan.graceMs);
  gateway.videos?.leaving.abort();
  await Promise.all([end.run(plan), gateway.background?.end(plan.graceMs), gateway.idempotency?.settled(plan.graceMs)]);
}

/** Answers with what is stored for the caller's user. Reading and storing it costs this process as a call does: it has to come through the same gate. */
async function serveStored(
  gateway: Gateway,
  http: { readonly request: IncomingMessage; readonly response: ClientReply; readonly callId: string; readonly target: RequestTarget },
  route: StoredObjectRoute,
  params: StoredObjectRequest['params'],
): Promise<void> {
  const { request, response, callId, target } = http;
  const caller = await authenticate(request, target.queryKeys, gateway.callers);
  const { isProxy, limits, validation, responseRetentionDays: retentionDays } = gateway.settings();
  const nowMs = gateway.clock.nowMs();
  checkCaller(caller, request, nowMs, isProxy);
  const { voice } = chatDialects['openai-responses'];
  const admission = await enterGate(gateway.gatekeeper, { callId, request, response, voice }, undefined, caller.userId);
  if (admission === undefined) return;
  const settings = { limits, validation, retentionDays };
  const mayHold = (bytes: number): boolean => admission.holdBytes(bytes);
  const asked = { caller, callId, request, response, query: target.query, params, settings, nowMs, newId: gateway.newId, mayHold };
  const answer = await serveStoredObject(gateway.storedObjects, route, asked);
  if (answer !== undefined) writeJson(response, 200, callId, answer);
}

/** What is neither a chat nor a list of models, and has its own way of answering. */
type BesidesRoute = Extract<Route, { type: 'files' | 'embeddings' | 'audio' | 'callbacks' | 'videos' | 'receipt' | 'quote' | 'credits' }>;

function isBesides(route: Route): route is BesidesRoute {
  return ['files', 'embeddings', 'audio', 'callbacks', 'videos', 'receipt', 'quote', 'credits'].includes(route.type);
}

/** Serves what is no chat. */
function serveBesides(
  gateway: Gateway,
  {
    route,
    params,
    findRoute,
  }: { readonly route: BesidesRoute; readonly params: StoredObjectRequest['params']; readonly findRoute: ReturnType<typeof createRouter> },
  handled: Handled,
  target: RequestTarget,
): Promise<void> {
  if (route.type === 'callbacks') return serveCallbacks(gateway, route.action, { ...handled, target }, params['id'] ?? '');
  if (route.type === 'quote') return serveQuote(gateway, { ...handled, target }, findRoute);
  if (route.type === 'credits') return serveCredits(gateway, { ...handled, target });
  if (route.type === 'receipt') return serveReceipt(gateway, { ...handled, target }, params['id'] ?? '');
  if (route.type === 'files') return serveFiles(gateway, { ...handled, target });
  const begin = (dialect: CallLabel): CallReport => (handled.report = gateway.telemetry.begin({ ...handled, dialect }));
  if (route.type === 'audio') return serveAudio(gateway, route.operation, { ...handled, target }, begin('openai-audio'));
  if (route.type === 'embeddings') return serveEmbeddings(gateway, { ...handled, target }, begin('openai-embeddings'));
  const { action } = route;
  const report = makesVideo(action) ? begin('video-tasks') : undefined;
  return serveVideos(gateway, { ...handled, response: handled.client, target }, { action, id: params['id'] ?? '' }, report);
}

/** Answers with the models, in the list format of a dialect. */
async function serveModels(
  { gateway, startedAtMs }: GatewayServerOptions,
  http: { readonly request: IncomingMessage; readonly response: ClientReply; readonly callId: string; readonly target: RequestTarget },
  asked: { readonly route: ModelsRoute; readonly rest: string; readonly dialect: DialectId },
): Promise<void> {
  const caller = await authenticate(http.request, http.target.queryKeys, gateway.callers);
  const { routing, isProxy } = gateway.settings();
  checkCaller(caller, http.request, gateway.clock.nowMs(), isProxy);
  const allowed = (model: string): boolean => mayCall(caller, model);
  const answer =
    asked.route.type === 'models'
      ? listModels(routing, asked.dialect, http.target.query, allowed)
      : showModel(routing, asked.dialect, modelName(asked.rest), startedAtMs, allowed);
  writeJson(http.response, 200, http.callId, answer);
}

/** What a request that was refused is known by, where no route has begun to follow it. */
function labelOfPath(path: string, dialect: DialectId): CallLabel {
  if (isAudioPath(path)) return 'openai-audio';
  return isVideoPath(path) ? 'video-tasks' : dialect;
}

/** Only array streams word errors otherwise, and only on the path that asks for one. */
function askedFraming(target: RequestTarget | undefined, headers: IncomingMessage['headers']): StreamFraming | undefined {
  if (target === undefined || dialectOfPath(target.path, headers) !== 'gemini-generate-content') return undefined;
  return /(?::|%3a)streamGenerateContent$/i.test(target.path) ? readAltFraming(target.query) : undefined;
}

function modelName(rest: string): string {
  try {
    const name = decodeURIComponent(rest);
    return name.startsWith('models/') ? name.slice('models/'.length) : name;
  } catch {
    // A broken percent-encoding names no model: it is answered as an unknown one.
    return rest;
  }
}

function writeJson(response: ClientReply, status: number, callId: string, answer: unknown): void {
  writeReply(response, status, { 'content-type': 'application/json', [requestIdHeader]: callId }, Buffer.from(JSON.stringify(answer)));
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

/** Answers a client whose body comes too slowly, and ends its connection: what it still sends would be taken for the next request. */
function refuseSlowBody({ request, response, reason }: SlowBody, callId: string): void {
  const target = readRequestTarget(request.url ?? '/');
  const voice = voiceOfPath(target?.path ?? '/', request.headers);
  const error = new GatewayError('request_timeout', reason, { headers: { connection: 'close' } });
  writeError(response, voice, error, callId, askedFraming(target, request.headers));
  // Node forgets a request that has been answered: whoever still takes its body, and holds what came of it, would wait for ever.
  request.socket.once('close', () => request.destroy());
  // What has been written leaves with the end of the sending side; a client that does not read it is not waited for.
  request.socket.destroySoon();
  setTimeout(() => request.socket.destroy(), second).unref();
}

/** Bytes that are no HTTP request never reach a route; they are answered in the shape most clients read, and the connection ends. */
function refuseMalformed(error: Error & { code?: string }, socket: Duplex, { telemetry }: Gateway): void {
  if (closeIfSilent(error, socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  telemetry.malformed('invalid_http_request');
  const status =
    { HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large', ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout' }[error.code ?? ''] ??
    '400 Bad Request';
  const body = JSON.stringify({
    error: { message: status.slice(4), type: 'invalid_request_error', param: null, code: 'invalid_http_request' },
  });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Connections that may wait to be accepted, where the system allows as many: a full queue refuses whoever comes, whatever its share. */
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
