import type { StatisticsRequest, StatisticsScope } from '../../billing/statistics/statistics.ts';
import type { ExportOptions } from './export-options.ts';

/** The format of an answer. */
export type Form = 'stats' | 'excel' | 'csv' | 'jsonl';

/** A query for an answer. It can be sent to another thread. */
export type AnswerQuery = {
  readonly form: Form;
  readonly request: StatisticsRequest;
  readonly scope: StatisticsScope;
  readonly exportOptions: ExportOptions;
};

/** Makes answers, in this thread or in another. */
export type Answers = {
  /** The time zone of the buckets. */
  readonly timeZone: string;
  /**
   * Begins an answer, and resolves with its bytes when the first of them can be written. Bytes are made no faster than
   * they are read; a reader that stops must return the iterator. A failure rejects, so that no part looks like the
   * whole. Rejects with StatisticsRefusedError, StatisticsUnavailableError, and with the reason of the signal.
   * @param signal ends the answer at any time
   */
  readonly open: (query: AnswerQuery, signal: AbortSignal) => Promise<AsyncIterator<Uint8Array<ArrayBuffer>>>;
};
