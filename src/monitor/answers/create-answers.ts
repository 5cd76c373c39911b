import type { BilledCallFilter } from '../../billing/statistics/billed-call.ts';
import { type BilledCallRecord, readBilledCalls } from '../../billing/statistics/billed-call-record.ts';
import { type RecordStream, openRecords, orUnavailable } from '../../billing/statistics/record-stream.ts';
import { type StatisticsLimits, StatisticsRefusedError, createQueries } from '../../billing/statistics/statistics.ts';
import type { AnswerReader, AnswerSource, StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import type { Clock } from '../../platform/clock.ts';
import { createCsvText, createJsonLines, createStatsText } from '../tables/table-text.ts';
import { billColumns, callColumns } from '../tables/table.ts';
import { createWorkbookStream } from '../workbook/workbook-stream.ts';
import type { Answers, AnswerQuery } from './answers.ts';

export type AnswersOptions = {
  readonly reader: AnswerReader;
  /** IANA name. */
  readonly timeZone: string;
  readonly limits?: StatisticsLimits;
  /** Whether workbooks have a last line with the totals if the request does not say. */
  readonly totalsRow?: boolean;
  /** The most calls that one answer may list. */
  readonly detailCallsMax: number;
  readonly clock: Clock;
};

/** An answer after its first records were read. */
type OpenAnswer = {
  readonly answerQuery: AnswerQuery;
  readonly records: RecordStream;
  readonly reading: AnswerSource;
  readonly signal: AbortSignal;
};

/**
 * Makes answers in this thread: rows go from the store through an encoder to the reader, one batch at a time. Throws
 * RangeError for an unknown time zone.
 */
export function createAnswers(options: AnswersOptions): Answers {
  const { reader, timeZone, limits } = options;
  const toQuery = createQueries({ timeZone, ...(limits === undefined ? {} : { limits }) });
  return {
    timeZone,
    open: async (answerQuery, signal) => {
      const query = toQuery(answerQuery.request, answerQuery.scope);
      const reading = reader.openSource();
      const close = (): void => void reading.close().catch(() => undefined);
      signal.addEventListener('abort', close, { once: true });
      try {
        signal.throwIfAborted();
        if (answerQuery.exportOptions.detail) {
          await assertNoneArchived(reading, query);
          await assertFewCalls(reading, query, options);
        }
        const records = await openRecords(reading, query, answerQuery.scope, timeZone);
        signal.throwIfAborted();
        return writeBytes(await encode({ answerQuery, records, reading, signal }, options), close, signal);
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/** A list without the calls that are in archives would look complete. */
async function assertNoneArchived(reading: AnswerSource, { startSeconds }: StatisticsQuery): Promise<void> {
  const untilMs = await orUnavailable(reading.archivedUntilMs());
  if (startSeconds * 1000 >= untilMs) return;
  const until = new Date(untilMs).toISOString();
  throw new StatisticsRefusedError(`single calls before ${until} are in archives; begin there, or read the Parquet files`);
}

/** The roll-ups count the calls before any of them is read. */
async function assertFewCalls(reading: AnswerSource, query: StatisticsQuery, { detailCallsMax }: AnswersOptions): Promise<void> {
  if ((await orUnavailable(reading.countCalls(query))) <= detailCallsMax) return;
  throw new StatisticsRefusedError(
    `the detail would have more than ${detailCallsMax} calls; request a shorter range, or filter by tokenName or modelName`,
  );
}

/** The bytes of an answer. However it ends, it closes the snapshot that it reads from. */
async function* writeBytes(
  pieces: AsyncIterable<string | Uint8Array>,
  close: () => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  try {
    for await (const piece of pieces) {
      signal.throwIfAborted();
      // A copy with a buffer of its own, which can be transferred to another thread.
      yield typeof piece === 'string' ? new TextEncoder().encode(piece) : new Uint8Array(piece);
    }
  } finally {
    close();
    signal.removeEventListener('abort', close);
  }
}

async function encode(answer: OpenAnswer, options: AnswersOptions): Promise<AsyncIterable<string | Uint8Array>> {
  const { answerQuery, records } = answer;
  const { form, exportOptions } = answerQuery;
  switch (form) {
    case 'stats':
      return createStatsText(billColumns, records.batches);
    case 'csv':
      return exportOptions.detail ? createCsvText(callColumns, readCalls(answer, options)) : createCsvText(billColumns, records.batches);
    case 'jsonl':
      return exportOptions.detail
        ? createJsonLines(callColumns, readCalls(answer, options))
        : createJsonLines(billColumns, records.batches);
    case 'excel':
      return await encodeWorkbook(answer, options);
  }
}

async function encodeWorkbook(answer: OpenAnswer, options: AnswersOptions): Promise<AsyncIterable<Uint8Array>> {
  const { answerQuery, records, reading } = answer;
  const { request, scope, exportOptions } = answerQuery;
  const { timeZone, clock, totalsRow = false } = options;
  const nowMs = clock.nowMs();
  const span = { startMs: request.startSeconds * 1000, endMs: request.endSeconds * 1000 };
  const priceVersions = await orUnavailable(reading.listPriceVersions({ ...span, ...scope }));
  return createWorkbookStream(records.batches, {
    modifiedAtMs: nowMs,
    about: { request, scope, timeZone, generatedAtMs: nowMs, priceVersions, totals: records.totals },
    ...((exportOptions.totals ?? totalsRow) ? { totals: records.totals } : {}),
    ...(exportOptions.detail ? { calls: readCalls(answer, options) } : {}),
  });
}

/** The calls behind the records, with the same filters. */
function readCalls(
  { answerQuery, reading, signal }: OpenAnswer,
  { timeZone }: AnswersOptions,
): AsyncGenerator<readonly BilledCallRecord[]> {
  const { request, scope } = answerQuery;
  const filter: BilledCallFilter = {
    startMs: request.startSeconds * 1000,
    endMs: request.endSeconds * 1000,
    ...scope,
    ...(request.tokenName === undefined ? {} : { tokenName: request.tokenName }),
    ...(request.modelName === undefined ? {} : { modelName: request.modelName }),
  };
  return readBilledCalls(reading, filter, timeZone, signal);
}
