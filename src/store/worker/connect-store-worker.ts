import type { Worker } from 'node:worker_threads';
import type { Store } from '../store.ts';
import { encodeForStore, joinEncoded } from '../operations/encoded-batch.ts';
import { unpackRows } from '../operations/packed-rows.ts';
import { StoreError } from '../store-error.ts';
import { groupProgress } from './group-progress.ts';
import { forwardedCalls, forwardedNames, type ForwardedName } from './forwarded-calls.ts';
import { decodeError } from './store-protocol.ts';
import type { EncodedBatch, OperationName, StoreOperations, StoreReply, StoreRequest } from './store-protocol.ts';

export type StoreWorkerOptions = {
  /** Time limit of opening, with migrations unless the worker says that it migrates. */
  readonly openTimeoutMs: number;
  /** Time limit of migrations that the worker has announced. Default: that of opening. */
  readonly migrateTimeoutMs?: number;
  /**
   * Time limit of one call, with its wait in the queue. After it the call fails as `unavailable`, but may still be
   * carried out.
   */
  readonly callTimeoutMs: number;
  /** How long closing waits for the calls before it; then it ends the thread. */
  readonly closeTimeoutMs: number;
  /** The most calls that wait for the worker; a further one fails as `unavailable`. */
  readonly pendingCallsMax: number;
  /** Called when migrations begin, which can take minutes. */
  readonly onMigrating?: () => void;
  /** Called once if the worker dies unexpectedly. From then on every call fails as `unavailable`. */
  readonly onFailure?: (error: StoreError) => void;
};

/** A store that works in a worker thread. */
export type WorkerStore = Store & {
  /** Why no call can succeed any more; undefined while the worker runs. */
  readonly failureReason: () => string | undefined;
};

/**
 * Connects to a store worker that was just started. Resolves when it has opened its database, and rejects with its
 * refusal. An idle worker does not keep the process alive; a call in progress does.
 */
export async function connectStoreWorker(worker: Worker, options: StoreWorkerOptions): Promise<WorkerStore> {
  const connection = createConnection(worker, options);
  await connection.opened;
  const { call } = connection;
  return {
    ...forwardAll(call),
    appendEntries: async (entries, nodeId) => await connection.append(joinEncoded(entries.map((entry) => encodeForStore(entry))), nodeId),
    appendEncoded: async (entries, nodeId) => await connection.append(joinEncoded(entries), nodeId),
    queryStatistics: async (query) => unpackRows(await call('sumUsage', query)),
    sumDaysOf: (timeZone) => sumDays(call, timeZone),
    recordProgress: groupProgress((group) => call('recordProgressGroup', group)),
    failureReason: connection.failureReason,
    close: connection.close,
  };
}

/** Creates the methods that only call the worker. */
function forwardAll(call: Call): Pick<Store, ForwardedName> {
  const forwarders = forwardedNames.map((name) => [name, forward(call, name, forwardedCalls[name])] as const);
  // The table has every name, and each forwarder has the parameters and the result of the operation of its name.
  return Object.fromEntries(forwarders) as Pick<Store, ForwardedName>;
}

/** Sends only the declared parameters: an additional argument might be something that cannot be sent to a thread. */
function forward<Name extends ForwardedName>(call: Call, name: Name, count: number) {
  return (...parameters: Parameters<StoreOperations[Name]>) =>
    parameters.length > count ? call(name, ...(parameters.slice(0, count) as typeof parameters)) : call(name, ...parameters);
}

/** Works step by step, so that a booking waits for one step at most. */
async function sumDays(call: Call, timeZone: string): Promise<boolean> {
  for (let steps = 0; ; steps += 1) if ((await call('sumDaysStep', timeZone, steps === 0)) === 'done') return steps > 0;
}

type PendingCall = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void; readonly timer: NodeJS.Timeout };

type Call = <Name extends OperationName>(
  operation: Name,
  ...parameters: Parameters<StoreOperations[Name]>
) => ReturnType<StoreOperations[Name]>;

type Connection = {
  readonly opened: Promise<void>;
  readonly call: Call;
  /** Hands the batch's memory over instead of a copy. */
  readonly append: (batch: EncodedBatch, nodeId?: string) => Promise<number>;
  readonly failureReason: () => string | undefined;
  readonly close: () => Promise<void>;
};

function createConnection(worker: Worker, options: StoreWorkerOptions): Connection {
  const calls = createPendingCalls(worker, options);
  const opening = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  const limitOpening = (timeoutMs: number): NodeJS.Timeout => setTimeout(() => fail('The store was not opened in time.'), timeoutMs);
  let openTimer = limitOpening(options.openTimeoutMs);
  let failure: StoreError | undefined;
  let closing: Promise<void> | undefined;
  let open = false;

  /** Ends everything at once. The first reason is kept. */
  function fail(reason: string, cause?: unknown): void {
    if (failure !== undefined) return;
    failure = new StoreError('unavailable', reason, { cause });
    end(failure);
    worker.terminate().catch(() => {
      // The worker has ended already, and the reason is known.
    });
    if (open && closing === undefined) options.onFailure?.(failure);
  }

  function end(error: StoreError): void {
    clearTimeout(openTimer);
    opening.reject(error);
    calls.rejectAll(error);
  }

  worker.on('message', (reply: StoreReply) => {
    if (reply.type === 'opened') {
      open = true;
      clearTimeout(openTimer);
      worker.unref();
      opening.resolve();
    } else if (reply.type === 'migrating') {
      clearTimeout(openTimer);
      openTimer = limitOpening(options.migrateTimeoutMs ?? options.openTimeoutMs);
      options.onMigrating?.();
    } else if (reply.type === 'refused') {
      failure = decodeError(reply.error);
      end(failure);
    } else {
      calls.settle(reply);
    }
  });
  worker.on('error', (error) => fail(`The store's worker died: ${error instanceof Error ? error.message : 'unknown error'}.`, error));
  worker.on('messageerror', (error) => fail('A reply of the store could not be read.', error));
  worker.on('exit', (code) => {
    if (closing === undefined) fail(`The store's worker ended by itself with code ${code}.`);
    calls.rejectAll(new StoreError('unavailable', 'The store was closed.'));
    exited.resolve();
  });
  const refusal = (): StoreError | undefined => {
    if (failure !== undefined) return new StoreError('unavailable', failure.message, { cause: failure });
    return closing === undefined ? undefined : new StoreError('unavailable', 'The store is closed.');
  };
  const send = async (operation: OperationName, parameters: readonly unknown[], transferred: readonly ArrayBuffer[]): Promise<unknown> => {
    const refused = refusal();
    if (refused !== undefined) throw refused;
    return await calls.add(operation, parameters, transferred);
  };
  return {
    opened: opening.promise,
    call: <Name extends OperationName>(operation: Name, ...parameters: Parameters<StoreOperations[Name]>) =>
      send(operation, parameters, []) as ReturnType<StoreOperations[Name]>,
    append: (batch, nodeId) => send('appendBatch', [batch, nodeId], [batch.bytes.buffer]) as Promise<number>,
    failureReason: () => failure?.message,
    close: () => (closing ??= failure === undefined ? closeWorker(worker, exited.promise, options.closeTimeoutMs) : exited.promise),
  };
}

async function closeWorker(worker: Worker, exited: Promise<void>, timeoutMs: number): Promise<void> {
  worker.ref();
  const timer = setTimeout(() => {
    worker.terminate().catch(() => {
      // It ended at the same moment, as intended.
    });
  }, timeoutMs);
  worker.postMessage({ type: 'close' } satisfies StoreRequest);
  try {
    await exited;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls without an answer. While there are any, the worker keeps the process alive. */
function createPendingCalls(worker: Worker, options: StoreWorkerOptions) {
  const pending = new Map<number, PendingCall>();
  let lastId = 0;

  function take(id: number): PendingCall | undefined {
    const call = pending.get(id);
    if (call === undefined) return undefined;
    clearTimeout(call.timer);
    pending.delete(id);
    if (pending.size === 0) worker.unref();
    return call;
  }

  return {
    add: (operation: OperationName, parameters: readonly unknown[], transferred: readonly ArrayBuffer[]): Promise<unknown> => {
      if (pending.size >= options.pendingCallsMax) {
        return Promise.reject(new StoreError('unavailable', `More than ${options.pendingCallsMax} calls wait for the store.`));
      }
      const id = (lastId += 1);
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => {
        take(id)?.reject(new StoreError('unavailable', `The store did not answer ${operation} within ${options.callTimeoutMs} ms.`));
      }, options.callTimeoutMs);
      if (pending.size === 0) worker.ref();
      pending.set(id, { resolve, reject, timer });
      try {
        worker.postMessage({ type: 'call', id, operation, parameters } satisfies StoreRequest, transferred);
      } catch (error) {
        take(id)?.reject(new StoreError('internal', `The parameters of ${operation} cannot be sent to the store.`, { cause: error }));
      }
      return promise;
    },
    settle: (reply: Extract<StoreReply, { type: 'result' | 'error' }>): void => {
      // A call that timed out has no entry; its late answer changes nothing.
      const call = take(reply.id);
      if (reply.type === 'result') call?.resolve(reply.result);
      else call?.reject(decodeError(reply.error));
    },
    rejectAll: (error: StoreError): void => {
      for (const id of pending.keys()) take(id)?.reject(error);
    },
  };
}
