import { Readable, addAbortSignal } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BilledCallRecord, readBilledCalls } from '../billing/statistics/billed-call-record.ts';
import type { BillingRecords } from '../billing/statistics/billing-record.ts';
import {
  StatisticsRefusedError,
  type StatisticsRequest,
  type StatisticsScope,
  StatisticsUnavailableError,
} from '../billing/statistics/statistics.ts';
import { waitFor } from '../platform/wait-for.ts';
import { billFileName } from './bill-file-name.ts';
import type { MonitorLimits, MonitorOptions } from './monitor.ts';
import { MonitorError, unavailable } from './monitor-error.ts';
import { type FileWishes, readBillingRequest, readFileWishes } from './read-billing-request.ts';
import { statisticsScope } from './statistics-scope.ts';
import { createStatsText } from './stats-text.ts';
import { type TableRow, billColumns, callColumns } from './tables/table.ts';
import { type Rows, createCsvText, createJsonLines } from './tables/table-text.ts';
import { TurnstileFullError, createTurnstile } from './turnstile.ts';
import { createWorkbookStream } from './workbook/workbook-stream.ts';

/** What an answer looks like. */
export type Form = 'stats' | 'excel' | 'csv' | 'jsonl';

/** One answered question, on its way out. `release` is called once its rows are no longer needed. */
type Answer = {
  readonly request: StatisticsRequest;
  readonly scope: StatisticsScope;
  readonly wishes: FileWishes;
  readonly records: BillingRecords;
  /** Versions of the price books behind the records; undefined where nobody can say, and where nobody wants to know. */
  readonly priceVersions: readonly string[] | undefined;
  readonly options: MonitorOptions;
  readonly limits: MonitorLimits;
  readonly release: () => void;
};

const JSON_TYPE = 'application/json; charset=utf-8';
const WORKBOOK_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
const JSON_LINES_TYPE = 'application/jsonl; charset=utf-8';
/** Up to here an answer is one text with a length; beyond, it is streamed. */
const WHOLE_ANSWER_RECORDS_MAX = 1000;

const senders: Readonly<Record<Form, (reply: FastifyReply, answer: Answer) => FastifyReply>> = {
  stats: sendStats,
  excel: sendWorkbook,
  csv: sendCsv,
  jsonl: sendJsonLines,
};

/** The road of a billing request: read it, wait for room, query, and only then begin the answer, so that every failure has a status. */
export function createAnswerer(
  options: MonitorOptions,
  limits: MonitorLimits,
): (request: FastifyRequest, reply: FastifyReply, form: Form) => Promise<FastifyReply> {
  const turnstile = createTurnstile({ insideMax: limits.answersMax, waitingMax: limits.waitingMax });
  return async (httpRequest, reply, form) => {
    const { request, wishes } = readQuestion(httpRequest.body, form);
    const scope = httpRequest.getDecorator<StatisticsScope>(statisticsScope);
    const signal = AbortSignal.any([clientLeft(reply), AbortSignal.timeout(limits.queryMsMax)]);
    let release: (() => void) | undefined;
    try {
      release = await turnstile.enter(signal);
      const records = await waitFor(options.statistics.query(request, scope), limits.queryMsMax, signal);
      if (wishes.detail) assertFewCalls(records, options, limits);
      const priceVersions = form === 'excel' ? await findPriceVersions(options, request, scope, limits.queryMsMax, signal) : undefined;
      void reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
      return senders[form](reply, { request, scope, wishes, records, priceVersions, options, limits, release });
    } catch (error) {
      release?.();
      throw explainQueryFailure(error, signal);
    }
  };
}

function readQuestion(body: unknown, form: Form): { readonly request: StatisticsRequest; readonly wishes: FileWishes } {
  const reading = readBillingRequest(body);
  if ('problems' in reading) throw new MonitorError(400, reading.problems.join('; '));
  const wishes = form === 'stats' ? { detail: false, totals: undefined } : readFileWishes(body);
  if ('problems' in wishes) throw new MonitorError(400, wishes.problems.join('; '));
  return { request: reading.request, wishes };
}

/** The roll-ups know how many calls there are before any of them is read. */
function assertFewCalls(records: BillingRecords, { calls }: MonitorOptions, limits: MonitorLimits): void {
  if (calls === undefined) throw new MonitorError(400, 'this monitor cannot list calls one by one; leave detail out');
  if (records.totals().callCount <= limits.detailCallsMax) return;
  throw new MonitorError(
    400,
    `the detail would have more than ${limits.detailCallsMax} calls; ask for a shorter range, or filter by tokenName or modelName`,
  );
}

async function findPriceVersions(
  { calls }: MonitorOptions,
  request: StatisticsRequest,
  scope: StatisticsScope,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (calls === undefined) return undefined;
  const span = { startMs: request.startSeconds * 1000, endMs: request.endSeconds * 1000, ...userOf(scope) };
  try {
    return await waitFor(calls.listPriceVersions(span), timeoutMs, signal);
  } catch (cause) {
    throw new StatisticsUnavailableError(cause);
  }
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
  if (signal.aborted) return unavailable('the statistics took too long; try again, or ask for a shorter range', error);
  if (error instanceof StatisticsUnavailableError) return unavailable('the statistics are not available at the moment; try again', error);
  return error;
}

function sendStats(reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.type(JSON_TYPE);
  if (answer.records.count > WHOLE_ANSWER_RECORDS_MAX) return sendText(reply, createStatsText(answer.records), answer);
  const text = JSON.stringify({ code: 200, message: 'success', data: [...answer.records] });
  answer.release();
  return reply.send(text);
}

function sendWorkbook(reply: FastifyReply, answer: Answer): FastifyReply {
  const { options, request, scope, records, wishes, priceVersions } = answer;
  nameFile(reply.type(WORKBOOK_TYPE), answer, 'bill', 'xlsx');
  const totals = records.totals();
  const nowMs = options.clock.nowMs();
  const { timeZone } = options.statistics;
  const leaving = new AbortController();
  const stream = createWorkbookStream(records, {
    modifiedAtMs: nowMs,
    about: { request, scope, timeZone, generatedAtMs: nowMs, priceVersions, totals },
    ...((wishes.totals ?? options.totalsRow ?? false) ? { totals } : {}),
    ...(wishes.detail ? { calls: openCalls(answer, leaving.signal) } : {}),
  });
  stream.once('close', () => leaving.abort());
  return sendStream(reply, stream, answer);
}

function sendCsv(reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.type(CSV_TYPE);
  if (!answer.wishes.detail) {
    nameFile(reply, answer, 'bill', 'csv');
    return sendText(reply, createCsvText(billColumns, answer.records), answer);
  }
  nameFile(reply, answer, 'calls', 'csv');
  return sendText(reply, createCsvText(callColumns, openCalls(answer, clientLeft(reply))), answer);
}

function sendJsonLines(reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.type(JSON_LINES_TYPE);
  nameFile(reply, answer, answer.wishes.detail ? 'calls' : 'bill', 'jsonl');
  const rows: Rows<TableRow> = answer.wishes.detail ? openCalls(answer, clientLeft(reply)) : answer.records;
  return sendText(reply, createJsonLines(rows), answer);
}

function nameFile(reply: FastifyReply, { request, options }: Answer, what: 'bill' | 'calls', extension: string): void {
  const name = billFileName(request, options.statistics.timeZone, what, extension);
  void reply.header('content-disposition', `attachment; filename="${name}"`);
}

/** The calls behind the records, of the same filters. A page of them may take as long as a query. */
function openCalls({ request, scope, options, limits }: Answer, signal: AbortSignal): AsyncGenerator<BilledCallRecord> {
  const { calls } = options;
  if (calls === undefined) throw new Error('Calls were asked for where there are none.');
  const filter = {
    startMs: request.startSeconds * 1000,
    endMs: request.endSeconds * 1000,
    ...userOf(scope),
    ...(request.tokenName === undefined ? {} : { tokenName: request.tokenName }),
    ...(request.modelName === undefined ? {} : { modelName: request.modelName }),
  };
  const bounded: Pick<typeof calls, 'listBilledCalls'> = {
    listBilledCalls: async (page) => await waitFor(calls.listBilledCalls(page), limits.queryMsMax, signal),
  };
  return readBilledCalls(bounded, filter, options.statistics.timeZone, signal);
}

function userOf(scope: StatisticsScope): { readonly userName?: string } {
  return scope.userName === undefined ? {} : { userName: scope.userName };
}

function sendText(reply: FastifyReply, text: AsyncIterable<string>, answer: Answer): FastifyReply {
  return sendStream(reply, Readable.from(text, { objectMode: false }), answer);
}

/** Sends a stream no faster than they are read. A failure on the way breaks the connection off, so that nobody takes a part for the whole. */
function sendStream(reply: FastifyReply, stream: Readable, { options, limits, release }: Answer): FastifyReply {
  addAbortSignal(AbortSignal.timeout(limits.answerMsMax), stream);
  stream.once('close', release);
  stream.once('error', (error) => options.logger.error({ err: error, url: reply.request.url }, 'a billing answer broke off'));
  return reply.send(stream);
}
