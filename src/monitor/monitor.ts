import type { MonitorLimits, MonitorOptions } from './monitor-options.ts';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { StatisticsScope } from '../billing/statistics/statistics.ts';
import { clientAddress } from '../platform/http/client-address.ts';
import { noRouteSchemas } from '../platform/http/no-route-schemas.ts';
import { release } from '../platform/release.ts';
import { waitFor } from '../platform/wait-for.ts';
import { type HealthReport, createHealth } from './health.ts';
import { createAnswerer } from './answer-billing.ts';
import type { Form } from './answers/answers.ts';
import { assertJsonType, parseJsonBody } from './json-body.ts';
import { MonitorError, tooManyRequests, unavailable } from './monitor-error.ts';
import { createErrorHandler, refuseBadUrl, refuseMalformed, refuseUnknownRoute } from './refuse.ts';
import { readToken } from './read-token.ts';
import { statisticsScope } from './statistics-scope.ts';

export const monitorLimitsDefault: MonitorLimits = {
  bodyBytesMax: 16 * 1024,
  requestMsMax: 15_000,
  authenticateMsMax: 10_000,
  healthMsMax: 2_000,
  queryMsMax: 30_000,
  answersMax: 8,
  waitingMax: 2_000,
  idleMsMax: 60_000,
  answerMsMax: 600_000,
  detailCallsMax: 1_000_000,
};

const JSON_TYPE = 'application/json; charset=utf-8';

/** The paths of the statistics and the formats of their answers. */
const forms: Readonly<Record<string, Form>> = {
  '/bill/stats': 'stats',
  '/bill/excel': 'excel',
  '/bill/csv': 'csv',
  '/bill/jsonl': 'jsonl',
};

/**
 * The monitor service (contract A 4.7, 4.8): POST /bill/stats, /bill/excel, /bill/csv and /bill/jsonl, and GET /health,
 * /health/ready and /health/live. It never writes to the store.
 */
export function createMonitor(options: MonitorOptions): FastifyInstance {
  const limits = options.limits ?? monitorLimitsDefault;
  const app: FastifyInstance = fastify({
    schemaController: noRouteSchemas,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestMsMax,
    connectionTimeout: limits.idleMsMax,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseBadUrl,
    // Fastify's own answer does not have our envelope.
    return503OnClosing: false,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);
  app.setErrorHandler(createErrorHandler(options.logger, limits.bodyBytesMax));
  app.addHook('onRequest', refuseUnknownRoute);
  app.decorateRequest(statisticsScope, null);
  const isClosing = watchClosing(app);

  const billing = { onRequest: [refuseWhileClosing(isClosing), createGate(options, limits)] };
  const answer = createAnswerer(options, limits);
  for (const [path, form] of Object.entries(forms)) app.post(path, billing, (request, reply) => answer(request, reply, form));
  addHealthRoutes(app, isClosing, createHealth({ check: options.health, logger: options.logger, timeoutMs: limits.healthMsMax }));
  return app;
}

function watchClosing(app: FastifyInstance): () => boolean {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  // A connection that stays open would keep the server from closing.
  app.addHook('onSend', async (_request, reply) => {
    if (closing) void reply.header('connection', 'close');
  });
  return () => closing;
}

function refuseWhileClosing(isClosing: () => boolean): () => Promise<void> {
  return async () => {
    if (isClosing()) throw unavailable('the monitor is shutting down; send the request again');
  };
}

/**
 * Health of the process, of its dependencies, and of both. A liveness probe does not query the store, because a restart
 * would not repair the store.
 */
function addHealthRoutes(app: FastifyInstance, isClosing: () => boolean, readHealth: () => Promise<HealthReport>): void {
  const send = (reply: FastifyReply, status: number, report: object): FastifyReply =>
    reply.code(status).type(JSON_TYPE).header('cache-control', 'no-store').send(JSON.stringify(report));
  for (const path of ['/health', '/health/ready']) {
    app.get(path, async (_request, reply) => {
      const report: HealthReport = isClosing() ? { live: true, ready: false, reasons: ['shutting down'] } : await readHealth();
      return await send(reply, report.ready ? 200 : 503, path === '/health' ? { ...report, ...release } : report);
    });
  }
  app.get('/health/live', async (_request, reply) => await send(reply, 200, { live: true }));
}

const tokensUnchecked = 'the token cannot be checked, because the database does not answer in time; send the request again';

/** Checks the token and the Content-Type before a byte of the body is read. */
function createGate({ authenticate, isProxy }: MonitorOptions, limits: MonitorLimits): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const token = readToken(request.raw);
    const ended = new AbortController();
    const address = clientAddress(request.raw, isProxy) ?? '';
    const scope = await waitFor(authenticate(token, ended.signal, address), limits.authenticateMsMax).catch((cause: unknown) => {
      ended.abort(cause);
      throw unavailable(tokensUnchecked, cause);
    });
    if (scope === 'unavailable') throw unavailable(tokensUnchecked);
    if (scope === undefined) throw new MonitorError(401, 'invalid billing token: it is unknown or deleted');
    if ('retryAfterSeconds' in scope) throw tooManyRequests(scope.message, scope.retryAfterSeconds);
    request.setDecorator<StatisticsScope>(statisticsScope, scope);
    assertJsonType(request.headers);
  };
}
