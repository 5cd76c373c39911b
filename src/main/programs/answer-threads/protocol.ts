import { StatisticsRefusedError, StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';

/** Begins answers to questions of one kind, in this thread or in another. */
export type Opens<Question> = {
  readonly open: (question: Question, signal: AbortSignal) => Promise<AsyncIterator<Uint8Array<ArrayBuffer>>>;
};

/** Pieces that are made ahead of the reader in the other thread. */
export const piecesAhead = 4;

/**
 * Messages to the answering thread. `more` allows another piece of an answer, `end` aborts it; `close` is the last
 * message.
 */
export type AnswerRequest<Question> =
  | { readonly type: 'open'; readonly id: number; readonly question: Question }
  | { readonly type: 'more'; readonly id: number }
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'close' };

/** Messages from it: for each answer `opened`, its pieces and `over`, or `failed` at any point. */
export type AnswerReply =
  | { readonly type: 'opened'; readonly id: number }
  | { readonly type: 'piece'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'over'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly failure: CarriedFailure };

/** An error between threads, which would lose its class. */
export type CarriedFailure = {
  readonly kind: 'refused' | 'unavailable' | 'other';
  readonly message: string;
  readonly stack: string | undefined;
};

export function encodeFailure(error: unknown): CarriedFailure {
  if (error instanceof StatisticsRefusedError) return { kind: 'refused', message: error.message, stack: undefined };
  const told = error instanceof StatisticsUnavailableError ? error.cause : error;
  const message = told instanceof Error ? told.message : 'An answer ended with something that is no error.';
  const kind = error instanceof StatisticsUnavailableError ? 'unavailable' : 'other';
  return { kind, message, stack: told instanceof Error ? told.stack : undefined };
}

export function decodeFailure({ kind, message, stack }: CarriedFailure): Error {
  if (kind === 'refused') return new StatisticsRefusedError(message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return kind === 'unavailable' ? new StatisticsUnavailableError(error) : error;
}
