import { setTimeout as delay } from 'node:timers/promises';

import type { Permission } from '../../accounts/people/permissions.ts';
import type { Change } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import { ControlError } from '../control-error.ts';
import type { LongOperation, OperationQuery, OperationStore } from './long-operation.ts';

/** How long results are kept. */
export const keepResultsMs = 7 * 86_400_000;
/** The most bytes of an input or a result, as JSON. Larger data needs a table of its own. */
const operationBytesMax = 1024 * 1024;

const defaults = { openMax: 20, pollMs: 200 };
const listedMax = 100;

export type StartOperation = {
  readonly kind: string;
  /** The permission to see it. */
  readonly permission: Permission;
  /** JSON data without secrets: it is stored, and shown to those who may see the operation. */
  readonly input: unknown;
  /** Credentials and the like, sealed for the process that runs it. They are never shown, and erased at the end. */
  readonly sealed?: string;
  readonly change: Change;
  /** Whether it is in the audit log. Questions to a gateway are not. */
  readonly isAudited: boolean;
  /** It fails if no process begins it within this time, such as when no gateway runs. */
  readonly startWithinMs?: number;
};

/** Long operations, as the process sees them that begins and shows them. Another process may run them. */
export type Operations = {
  /** @throws ControlError `too_many_operations`, `input_too_large` */
  readonly start: (start: StartOperation) => Promise<LongOperation>;
  readonly find: (id: string) => Promise<LongOperation | undefined>;
  /** Those that have not ended, or ended within a time: the newest first, at most 100. */
  readonly listRecent: (endedWithinMs: number) => Promise<readonly LongOperation[]>;
  /** Newest first. */
  readonly list: (query: OperationQuery) => Promise<readonly LongOperation[]>;
  /** Undefined if there is none. @throws ControlError `operation_ended` */
  readonly cancel: (id: string, change: Change) => Promise<LongOperation | undefined>;
  /**
   * The operation now and after each change, until it has ended or the signal aborts. Changes that follow each other
   * quickly are one.
   * @param seenVersion changes up to this version are left out
   */
  readonly follow: (id: string, signal: AbortSignal, seenVersion?: number) => AsyncGenerator<LongOperation>;
  /** Waits for the end. Rejects with the reason of the signal. */
  readonly ended: (id: string, signal: AbortSignal) => Promise<LongOperation>;
};

export function createOperations(options: {
  readonly store: OperationStore;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Called after a start, so that a runner of this process looks at once. */
  readonly onStart?: () => void;
  /** The most operations of a kind that have not ended. Default 20. */
  readonly openMax?: number;
  /** Time between two readings of an operation that somebody follows. Default 200 ms. */
  readonly pollMs?: number;
}): Operations {
  const { store, clock, newId, onStart } = options;
  const { openMax, pollMs } = { ...defaults, ...options };

  async function* follow(id: string, signal: AbortSignal, seenVersion = 0): AsyncGenerator<LongOperation> {
    for (let seen = seenVersion; ;) {
      const operation = await store.findOperation(id);
      signal.throwIfAborted();
      if (operation === undefined) return;
      if (operation.version > seen) yield operation;
      if (operation.endedAtMs !== undefined) return;
      seen = Math.max(seen, operation.version);
      await delay(pollMs, undefined, { signal });
    }
  }

  return {
    start: async ({ kind, permission, input, sealed, change, isAudited, startWithinMs }) => {
      assertSize([input, sealed]);
      const createdAtMs = clock.nowMs();
      const startBy = startWithinMs === undefined ? {} : { startByMs: createdAtMs + startWithinMs };
      const operation = { id: newId('op'), kind, permission, actor: change.actor, input, createdAtMs };
      const hidden = sealed === undefined ? {} : { sealed };
      if (!(await store.insertOperation({ ...operation, ...startBy, ...hidden }, openMax, isAudited ? change : undefined)))
        throw new ControlError('too_many_operations', `${openMax} operations ${kind} have not ended: wait for one, or cancel one.`);
      onStart?.();
      return { ...operation, state: 'waiting', isCancelling: false, version: 1, attempts: 0 };
    },
    find: (id) => store.findOperation(id),
    // A row is kept for a fixed time after its end.
    listRecent: (endedWithinMs) => store.listOperations({ keptUntilMs: clock.nowMs() + keepResultsMs - endedWithinMs, limit: listedMax }),
    list: (query) => store.queryOperations(query),
    cancel: async (id, change) => {
      const operation = await store.cancelOperation(id, clock.nowMs() + keepResultsMs, change);
      if (operation !== undefined && (operation.state === 'done' || operation.state === 'failed'))
        throw new ControlError('operation_ended', `The operation has ended already: it is ${operation.state}.`);
      return operation;
    },
    follow,
    ended: async (id, signal) => {
      for await (const operation of follow(id, signal)) if (operation.endedAtMs !== undefined) return operation;
      throw new Error(`The operation ${id} was deleted before it ended.`);
    },
  };
}

/** @throws ControlError `input_too_large` */
export function assertSize(value: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > operationBytesMax)
    throw new ControlError('input_too_large', `The data of an operation may have ${operationBytesMax} bytes; it has ${bytes}.`);
}
