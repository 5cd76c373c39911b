import type { StatisticsRequest, StatisticsScope } from '../../billing/statistics/statistics.ts';
import type { ExportOptions } from './export-options.ts';

/** What an answer looks like. */
export type Form = 'stats' | 'excel' | 'csv' | 'jsonl';

/** What is asked. It can be sent from thread to thread. */
export type AnswerQuery = {
  readonly form: Form;
  readonly request: StatisticsRequest;
  readonly scope: StatisticsScope;
  readonly exportOptions: ExportOptions;
};

/** Who answers: here, or in another thread. */
export type Answers = {
  /** The time zone of the buckets. */
  readonly timeZone: string;
  /**
   * Begins an answer, and resolves with its bytes when the first of them can be written. They are made no faster than they are taken; a reader that stops returns the iterator. A failure on
   * the way rejects, so that no part looks like the whole. Rejects with StatisticsRefusedError, StatisticsUnavailableError, and with the signal's reason.
   * @param signal ends the answer at any time
   */
  readonly open: (question: AnswerQuery, signal: AbortSignal) => Promise<AsyncIterator<Uint8Array<ArrayBuffer>>>;
};
