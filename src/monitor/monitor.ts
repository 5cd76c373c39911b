import { Readable, addAbortSignal } from 'node:stream';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { BillingRecords } from '../billing/statistics/billing-record.ts';
import {
  type Statistics,
  StatisticsRefusedError,
  type StatisticsRequest,
  type StatisticsScope,
  StatisticsUnavailableError,
} from '../billing/statistics/statistics.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import { type HealthCheck, type HealthReport, createHealth } from './health.ts';
import { assertJsonType, parseJsonBody } from './json-body.ts';
import { MonitorError } from './monitor-error.ts';
import { createErrorHandler, refuseBadUrl, refuseMalformed, refuseUnknownRoute } from './refuse.ts';
import { readBillingRequest } from './read-billing-request.ts';
import { readToken } from './read-token.ts';
import { createStatsText } from './stats-text.ts';
import { TurnstileFullError, createTurnstile } from './turnstile.ts';
import { workbookFileName } from './workbook-file-name.ts';
import { createWorkbookStream } from './workbook/workbook-stream.ts';

export type MonitorLimits = {
  readonly bodyBytesMax: number;
  /** For a request to arrive in full. */
  readonly requestMsMax: number;
  readonly authenticateMsMax: number;
  readonly healthMsMax: number;
  /** For the statistics to be there, the wait in line included. */
  readonly queryMsMax: number;
  /** Answers being made or sent at once, since each holds its rows in memory; and how many requests may wait in line. */
  readonly answersMax: number;
  readonly waitingMax: number;
  /** Without a byte read by the client. */
  readonly idleMsMax: number;
  /** For an answer to be sent, from its first byte to its last. */
  readonly answerMsMax: number;
};

export const monitorLimitsDefault: MonitorLimits = {
  bodyBytesMax: 16 * 1024,
  requestMsMax: 15_000,
  authenticateMsMax: 5_000,
  healthMsMax: 2_000,
  queryMsMax: 30_000,
  answersMax: 8,
  waitingMax: 2_000,
  idleMsMax: 60_000,
  answerMsMax: 600_000,
};

export type MonitorOptions = {
  readonly statistics: Statistics;
  /** Whose calls a billing token may see; undefined for a token that is not valid; `unavailable` when nobody can say at the moment. */
  readonly authenticate: (token: string, signal: AbortSignal) => Promise<StatisticsScope | undefined | 'unavailable'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: HealthCheck;
  readonly limits?: MonitorLimits;
};

const JSON_TYPE = 'application/json; charset=utf-8';
const WORKBOOK_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const SCOPE = 'statisticsScope';
/** Up to here an answer is one text with a length; beyond, it is streamed. */
const WHOLE_ANSWER_RECORDS_MAX = 1000;

/** The monitor service (contract A 4.7, 4.8): POST /bill/stats, POST /bill/excel, and GET /health with its parts. It reads and never writes. */
export function createMonitor(options: MonitorOptions): FastifyInstance {
  const limits = options.limits ?? monitorLimitsDefault;
  const app: FastifyInstance = fastify({
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestMsMax,
    connectionTimeout: limits.idleMsMax,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseBadUrl,
    // Fastify's own answer has a body of its own shape.
    return503OnClosing: false,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);
  app.setErrorHandler(createErrorHandler(options.logger, limits.bodyBytesMax));
  app.addHook('onRequest', refuseUnknownRoute);
  app.decorateRequest(SCOPE, null);
  const isClosing = watchClosing(app);

  const billing = { onRequest: [refuseWhileClosing(isClosing), createGate(options, limits)] };
  const answer = createAnswerer(options, limits);
  app.post('/bill/stats', billing, (request, reply) => answer(request, reply, sendStats));
  app.post('/bill/excel', billing, (request, reply) => answer(request, reply, sendWorkbook));
  addHealthRoutes(app, isClosing, createHealth({ check: options.health, logger: options.logger, timeoutMs: limits.healthMsMax }));
  return app;
}

function watchClosing(app: FastifyInstance): () => boolean {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  // A connection that stays open keeps the server from closing.
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

/** Of the process itself, of what it needs, and of both; a probe of liveness asks the store nothing, since a restart would not mend that. */
function addHealthRoutes(app: FastifyInstance, isClosing: () => boolean, askHealth: () => Promise<HealthReport>): void {
  const send = (reply: FastifyReply, status: number, report: object): FastifyReply =>
    reply.code(status).type(JSON_TYPE).header('cache-control', 'no-store').send(JSON.stringify(report));
  for (const path of ['/health', '/health/ready']) {
    app.get(path, async (_request, reply) => {
      const report: HealthReport = isClosing() ? { live: true, ready: false, reasons: ['shutting down'] } : await askHealth();
      return await send(reply, report.ready ? 200 : 503, report);
    });
  }
  app.get('/health/live', async (_request, reply) => await send(reply, 200, { live: true }));
}

/** Before a byte of the body is read: who asks, and whether the body will be JSON. */
function createGate({ authenticate }: MonitorOptions, limits: MonitorLimits): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const token = readToken(request.raw);
    const signal = AbortSignal.timeout(limits.authenticateMsMax);
    const scope = await waitFor(authenticate(token, signal), limits.authenticateMsMax).catch((cause: unknown) => {
      throw unavailable('tokens cannot be checked at the moment; try again', cause);
    });
    if (scope === 'unavailable') throw unavailable('tokens cannot be checked at the moment; try again');
    if (scope === undefined) throw new MonitorError(401, 'invalid or missing token');
    request.setDecorator<StatisticsScope>(SCOPE, scope);
    assertJsonType(request.headers);
  };
}

/** One answered question, on its way out. `release` is called once its rows are no longer needed. */
type Answer = {
  readonly request: StatisticsRequest;
  readonly records: BillingRecords;
  readonly options: MonitorOptions;
  readonly limits: MonitorLimits;
  readonly release: () => void;
};
type Send = (reply: FastifyReply, answer: Answer) => FastifyReply;
type Answerer = (request: FastifyRequest, reply: FastifyReply, send: Send) => Promise<FastifyReply>;

/** The road of a billing request: read it, wait for room, query, and only then begin the answer, so that every failure has a status. */
function createAnswerer(options: MonitorOptions, limits: MonitorLimits): Answerer {
  const turnstile = createTurnstile({ insideMax: limits.answersMax, waitingMax: limits.waitingMax });
  return async (httpRequest, reply, send) => {
    const reading = readBillingRequest(httpRequest.body);
    if ('problems' in reading) throw new MonitorError(400, reading.problems.join('; '));
    const scope = httpRequest.getDecorator<StatisticsScope>(SCOPE);
    const signal = AbortSignal.any([clientLeft(reply), AbortSignal.timeout(limits.queryMsMax)]);
    let release: (() => void) | undefined;
    try {
      release = await turnstile.enter(signal);
      const records = await waitFor(options.statistics.query(reading.request, scope), limits.queryMsMax, signal);
      void reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
      return send(reply, { request: reading.request, records, options, limits, release });
    } catch (error) {
      release?.();
      throw explainQueryFailure(error, signal);
    }
  };
}

/** Fastify's own `request.signal` aborts as soon as a body has been read (5.12.8 on Node 26), so the response is watched instead. */
function clientLeft(reply: FastifyReply): AbortSignal {
  const left = new AbortController();
  reply.raw.once('close', () => left.abort(new Error('The client left.')));
  return left.signal;
}

function explainQueryFailure(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof StatisticsRefusedError) return new MonitorError(400, error.message);
  if (error instanceof TurnstileFullError) return unavailable('too many billing requests at once; try again', error);
  if (error instanceof StatisticsUnavailableError) return unavailable('the statistics are not available at the moment; try again', error);
  if (signal.aborted) return unavailable('the statistics took too long; try again, or ask for a shorter range', error);
  return error;
}

function unavailable(message: string, cause?: unknown): MonitorError {
  return new MonitorError(503, message, { headers: { 'retry-after': '1' }, cause });
}

function sendStats(reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.type(JSON_TYPE);
  if (answer.records.count > WHOLE_ANSWER_RECORDS_MAX)
    return sendStream(reply, Readable.from(createStatsText(answer.records), { objectMode: false }), answer);
  const text = JSON.stringify({ code: 200, message: 'success', data: [...answer.records] });
  answer.release();
  return reply.send(text);
}

function sendWorkbook(reply: FastifyReply, answer: Answer): FastifyReply {
  const { options, request, records } = answer;
  void reply
    .type(WORKBOOK_TYPE)
    .header('content-disposition', `attachment; filename="${workbookFileName(request, options.statistics.timeZone)}"`);
  return sendStream(reply, createWorkbookStream(records, { modifiedAtMs: options.clock.nowMs() }), answer);
}

/** Sends a stream no faster than they are read. A failure on the way breaks the connection off, so that nobody takes a part for the whole. */
function sendStream(reply: FastifyReply, stream: Readable, { options, limits, release }: Answer): FastifyReply {
  addAbortSignal(AbortSignal.timeout(limits.answerMsMax), stream);
  stream.once('close', release);
  stream.once('error', (error) => options.logger.error({ err: error, url: reply.request.url }, 'a billing answer broke off'));
  return reply.send(stream);
}
