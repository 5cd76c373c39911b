import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StatisticsRefusedError, type StatisticsScope, StatisticsUnavailableError } from '../billing/statistics/statistics.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { Answers, Form, AnswerQuery } from './answers/answers.ts';
import { billFileName } from '../billing/statistics/bill-file-name.ts';
import type { MonitorLimits, MonitorOptions } from './monitor-options.ts';
import { MonitorError, unavailable } from './monitor-error.ts';
import { readBillingRequest, readExportOptions } from './read-billing-request.ts';
import { statisticsScope } from './statistics-scope.ts';
import { RequestLimiterFullError, createRequestLimiter } from './request-limiter.ts';

const types: Readonly<Record<Form, string>> = {
  stats: 'application/json; charset=utf-8',
  excel: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
};
const extensions: Readonly<Record<Exclude<Form, 'stats'>, string>> = { excel: 'xlsx', csv: 'csv', jsonl: 'jsonl' };

/** The bytes of an answer that was begun. */
type Beginning = {
  /** The pieces that exist already. */
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  /** The remaining pieces; undefined if there are none. */
  readonly rest: AsyncIterator<Uint8Array<ArrayBuffer>> | undefined;
};

/**
 * Answers a billing request: reads it, waits for a slot, and sends the status only when the first records exist, so
 * that failures have a status of their own.
 */
export function createAnswerer(
  { answers, logger }: Pick<MonitorOptions, 'answers' | 'logger'>,
  limits: MonitorLimits,
): (request: FastifyRequest, reply: FastifyReply, form: Form) => Promise<FastifyReply> {
  const requestLimiter = createRequestLimiter({ insideMax: limits.answersMax, waitingMax: limits.waitingMax });
  return async (httpRequest, reply, form) => {
    const query = readQuery(httpRequest.body, form, httpRequest.getDecorator<StatisticsScope>(statisticsScope));
    const disconnected = clientDisconnected(reply);
    const opening = AbortSignal.any([disconnected, AbortSignal.timeout(limits.queryMsMax)]);
    // Ends the answer in this thread or in another.
    const ending = new AbortController();
    let release: (() => void) | undefined;
    try {
      release = await requestLimiter.enter(opening);
      const beginning = await waitFor(begin(answers, query, AbortSignal.any([disconnected, ending.signal])), limits.queryMsMax, opening);
      describeAnswer(reply, query, answers.timeZone);
      if (beginning.rest !== undefined) return sendStream(reply, beginning, { release, ending, limits, logger });
      release();
      return reply.send(Buffer.concat(beginning.pieces));
    } catch (error) {
      ending.abort(error);
      release?.();
      throw explainQueryFailure(error, opening);
    }
  };
}

function readQuery(body: unknown, form: Form, scope: StatisticsScope): AnswerQuery {
  const reading = readBillingRequest(body, form);
  if ('problems' in reading) throw new MonitorError(400, reading.problems.join('; '));
  const exportOptions = form === 'stats' ? { detail: false, totals: undefined } : readExportOptions(body);
  if ('problems' in exportOptions) throw new MonitorError(400, exportOptions.problems.join('; '));
  return { form, request: reading.request, scope, exportOptions };
}

/** A small answer is complete after its first piece, and then has a Content-Length. */
async function begin(answers: Answers, query: AnswerQuery, signal: AbortSignal): Promise<Beginning> {
  const rest = await answers.open(query, signal);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  while (pieces.length < 2) {
    const next = await rest.next();
    if (next.done === true) return { pieces, rest: undefined };
    pieces.push(next.value);
  }
  return { pieces, rest };
}

/**
 * Fastify's own `request.signal` aborts as soon as a body has been read (5.12.8 on Node 26), so this observes the
 * response instead.
 */
function clientDisconnected(reply: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  reply.raw.once('close', () => disconnected.abort(new Error('The client disconnected.')));
  return disconnected.signal;
}

function explainQueryFailure(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof StatisticsRefusedError) return new MonitorError(400, error.message);
  if (error instanceof RequestLimiterFullError) return unavailable('too many billing requests at once; retry', error);
  if (signal.aborted) return unavailable('the statistics took too long; retry, or request a shorter range', error);
  if (error instanceof StatisticsUnavailableError) return unavailable('the statistics are not available at the moment; retry', error);
  return error;
}

function describeAnswer(reply: FastifyReply, { form, request, exportOptions }: AnswerQuery, timeZone: string): void {
  void reply.type(types[form]).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
  if (form === 'stats') return;
  const name = billFileName(request, timeZone, exportOptions.detail && form !== 'excel' ? 'calls' : 'bill', extensions[form]);
  void reply.header('content-disposition', `attachment; filename="${name}"`);
}

type Sending = {
  readonly release: () => void;
  readonly ending: AbortController;
  readonly limits: MonitorLimits;
  readonly logger: MonitorOptions['logger'];
};

/**
 * Sends an answer no faster than the client reads it. A failure closes the connection without an end of the body, so
 * that no client takes a part for the whole.
 */
function sendStream(reply: FastifyReply, beginning: Beginning, { release, ending, limits, logger }: Sending): FastifyReply {
  const { raw } = reply.hijack();
  const timer = setTimeout(() => ending.abort(new Error(`The answer took longer than ${limits.answerMsMax} ms.`)), limits.answerMsMax);
  const write = async (): Promise<void> => {
    try {
      await writePieces(raw, reply.getHeaders() as OutgoingHttpHeaders, beginning, ending.signal);
    } catch (error) {
      // A client that disconnects interrupts the answer too, and that is not a failure.
      const isDisconnected = raw.destroyed && !ending.signal.aborted;
      if (!isDisconnected) logger.error({ err: error, url: reply.request.url }, 'billing answer interrupted');
      raw.destroy();
    } finally {
      clearTimeout(timer);
      ending.abort(new Error('The answer has ended.'));
      release();
    }
  };
  void write();
  return reply;
}

async function writePieces(
  raw: ServerResponse,
  headers: OutgoingHttpHeaders,
  { pieces, rest }: Beginning,
  signal: AbortSignal,
): Promise<void> {
  raw.writeHead(200, headers);
  try {
    for (const piece of pieces) await writePiece(raw, piece, signal);
    for (let next = await rest?.next(); next !== undefined && next.done !== true; next = await rest?.next()) {
      await writePiece(raw, next.value, signal);
    }
  } finally {
    await rest?.return?.();
  }
  raw.end();
}

/**
 * Resolves when the piece has been handed to the system. Releases its memory then, and does not wait for the garbage
 * collector.
 */
async function writePiece(raw: ServerResponse, piece: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const written = Promise.withResolvers<void>();
  const giveUp = (): void => written.reject(signal.reason as Error);
  const disconnect = (): void => written.reject(new Error('The client disconnected before the end of the answer.'));
  signal.addEventListener('abort', giveUp, { once: true });
  raw.once('close', disconnect);
  raw.write(piece, (error) => (error ? written.reject(error) : written.resolve()));
  try {
    if (raw.destroyed) disconnect();
    await written.promise;
    piece.buffer.transfer(0);
  } finally {
    signal.removeEventListener('abort', giveUp);
    raw.removeListener('close', disconnect);
  }
}
