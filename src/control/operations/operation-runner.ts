import { randomUUID } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { assertSize, keepResultsMs } from './create-operations.ts';
import type { ClaimedOperation, OperationEnd, OperationProgress, OperationStore } from './long-operation.ts';

/** A failure that the person who began the operation may read. */
export class OperationFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperationFailure';
    this.code = code;
  }
}

/**
 * Does the work of one kind of operations, and resolves with the result as JSON data. It may be called again for the
 * same operation after its process has ended, and starts from the beginning then. After the signal has aborted it soon
 * rejects, or resolves with the finished part.
 * @throws OperationFailure for words that the person should read; other errors are logged and shown without words
 */
export type OperationHandler = (
  input: unknown,
  context: {
    readonly signal: AbortSignal;
    readonly operation: ClaimedOperation;
    /** Cheap: the last one is written about every half second. */
    readonly report: (progress: OperationProgress) => void;
  },
) => Promise<unknown>;

export type OperationRunner = {
  readonly start: () => void;
  /** Looks for operations now, not after the pause. */
  readonly wake: () => void;
  /** Stops running operations. Another process, or the next start, starts them from the beginning at once. */
  readonly close: () => Promise<void>;
};

export type RunnerOptions = {
  readonly store: OperationStore;
  readonly handlers: Readonly<Record<string, OperationHandler>>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Time between two questions for work. Default 1 s. */
  readonly pollMs?: number;
  /** Time between two reports of a running operation. Default 500 ms. */
  readonly reportMs?: number;
  /** How long a process may be silent before others take its operation. Default 15 s. */
  readonly leaseMs?: number;
  /** Default 4. */
  readonly runningMax?: number;
  /** Default 3. */
  readonly attemptsMax?: number;
};

const defaults = { pollMs: 1000, reportMs: 500, leaseMs: 15_000, runningMax: 4, attemptsMax: 3 };
const sweepEveryMs = 5000;
const storeMsMax = 10_000;

/**
 * Runs the operations of some kinds in this process. Any number of processes may run the same kinds: a lease gives each
 * operation to one of them. If a process is killed, another starts the operation from the beginning after the lease.
 */
export function createOperationRunner(options: RunnerOptions): OperationRunner {
  const { store, handlers, clock, logger } = options;
  const limits = { ...defaults, ...options };
  const owner = randomUUID();
  const kinds = Object.keys(handlers);
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let wantsMore = false;
  let sweptAtMs = -Infinity;
  let isDown = false;

  const ask = <Answer>(answer: Promise<Answer>): Promise<Answer> => waitFor(answer, storeMsMax);

  async function look(): Promise<void> {
    const nowMs = clock.nowMs();
    if (nowMs - sweptAtMs >= sweepEveryMs) {
      sweptAtMs = nowMs;
      await ask(store.sweepOperations({ nowMs, keepUntilMs: nowMs + keepResultsMs, limit: 100 }));
    }
    while (running.size < limits.runningMax && !closing.signal.aborted) {
      const claimedAtMs = clock.nowMs();
      const operation = await ask(store.claimOperation({ kinds, owner, nowMs: claimedAtMs, leaseUntilMs: claimedAtMs + limits.leaseMs }));
      if (operation === undefined) return;
      const work = runOne(operation, { ...options, ...limits, owner, closing: closing.signal }).finally(() => {
        running.delete(work);
        wake();
      });
      running.add(work);
    }
  }

  /** One look at a time; a call during one causes another look. */
  function wake(): void {
    if (closing.signal.aborted) return;
    wantsMore = true;
    looking ??= repeat().finally(() => {
      looking = undefined;
      clearTimeout(timer);
      // Looking must not keep the process alive.
      if (!closing.signal.aborted) timer = setTimeout(wake, limits.pollMs).unref();
    });
  }

  async function repeat(): Promise<void> {
    while (wantsMore && !closing.signal.aborted) {
      wantsMore = false;
      try {
        await look();
        isDown = false;
      } catch (error) {
        if (!isDown && !closing.signal.aborted) logger.warn({ err: error }, 'reading operations from the store failed');
        isDown = true;
      }
    }
  }

  return {
    start: wake,
    wake,
    close: async () => {
      closing.abort(new Error('the process is stopping'));
      clearTimeout(timer);
      await looking;
      await Promise.all(running);
    },
  };
}

type RunParts = RunnerOptions & typeof defaults & { readonly owner: string; readonly closing: AbortSignal };

/** Runs one operation until it has ended, is lost to another process, or is released. Never rejects. */
async function runOne(operation: ClaimedOperation, parts: RunParts): Promise<void> {
  const { store, clock, logger, owner, closing, attemptsMax, leaseMs, reportMs } = parts;
  const { id, kind } = operation;
  const stop = new AbortController();
  let outcome: 'cancel' | 'lost' | undefined;
  let progress: OperationProgress | undefined;

  const renew = async (): Promise<void> => {
    const latest = progress;
    progress = undefined;
    try {
      const report = { id, owner, leaseUntilMs: clock.nowMs() + leaseMs, ...(latest !== undefined && { progress: latest }) };
      const answer = await waitFor(store.reportOperation(report), storeMsMax);
      if (answer === 'go-on' || outcome !== undefined) return;
      outcome = answer;
      stop.abort(new Error(answer === 'cancel' ? 'the operation was cancelled' : 'another process has the operation'));
    } catch (error) {
      // The next report repeats it. If the lease ends meanwhile, it says so.
      logger.warn({ err: error, operation: id }, 'reporting an operation failed');
    }
  };
  let reporting: Promise<void> = Promise.resolve();
  const timer = setInterval(() => void (reporting = reporting.then(renew)), reportMs).unref();
  const ending = await conclude(operation, parts, AbortSignal.any([closing, stop.signal]), (next) => (progress = next));
  clearInterval(timer);
  await reporting;
  try {
    if (outcome === 'lost') return;
    if (closing.aborted && ending.state !== 'done') return await waitFor(store.releaseOperation(id, owner), storeMsMax);
    if (progress !== undefined) await renew();
    const nowMs = clock.nowMs();
    const times = { endedAtMs: nowMs, keepUntilMs: nowMs + keepResultsMs };
    const isCancelled = outcome === 'cancel' && operation.attempts <= attemptsMax;
    const { problem: _none, ...finished } = ending;
    await waitFor(store.endOperation(id, owner, { ...(isCancelled ? { ...finished, state: 'cancelled' } : ending), ...times }), storeMsMax);
  } catch (error) {
    // The operation runs again after the lease.
    logger.warn({ err: error, operation: id, kind }, 'recording the end of an operation failed');
  }
}

/** What the handler says. */
async function conclude(
  operation: ClaimedOperation,
  { handlers, attemptsMax, logger }: RunParts,
  signal: AbortSignal,
  report: (progress: OperationProgress) => void,
): Promise<Pick<OperationEnd, 'state' | 'result' | 'problem'>> {
  const { id, kind, input, attempts } = operation;
  const handler = handlers[kind];
  if (attempts > attemptsMax || handler === undefined) {
    const detail = `The operation was begun ${attempts - 1} times, and each time its process ended before it.`;
    return { state: 'failed', problem: { code: 'interrupted', detail } };
  }
  // It may have been claimed while the process began to stop.
  if (signal.aborted) return { state: 'cancelled' };
  try {
    const result = await handler(input, { signal, operation, report });
    assertSize(result);
    return { state: signal.aborted ? 'cancelled' : 'done', ...(result !== undefined && { result }) };
  } catch (error) {
    if (signal.aborted) return { state: 'cancelled' };
    if (error instanceof OperationFailure) return { state: 'failed', problem: { code: error.code, detail: error.message } };
    logger.error({ err: error, operation: id, kind }, 'operation failed');
    const detail = 'The server failed; its log has the reason under the id of the operation.';
    return { state: 'failed', problem: { code: 'internal_error', detail } };
  }
}
