import type { MessagePort } from 'node:worker_threads';
import { encodeError } from './store-protocol.ts';
import type { StoreOperations, StoreReply, StoreRequest } from './store-protocol.ts';

type Call = Extract<StoreRequest, { type: 'call' }>;

/** A database in its own thread. */
export type ServedStore = {
  readonly operations: StoreOperations;
  /** Called once, after the last operation. */
  readonly close: () => Promise<void>;
};

/**
 * Answers calls of the other thread until it receives `close`. If the database cannot be opened, the refusal is the
 * only message.
 * @param open opens the database, and says so before it migrates it
 * @param callsAtOnce the number of concurrent operations. With 1, each begins when the one before has ended, so that
 * transactions of one connection never mix, and calls are answered in order.
 */
export async function serveStore(
  port: MessagePort,
  open: (announceMigration: () => void) => Promise<ServedStore>,
  callsAtOnce: number,
): Promise<void> {
  const reply = (message: StoreReply): void => port.postMessage(message);
  const waiting: Call[] = [];
  let running = 0;
  let closing = false;
  let store: ServedStore;
  try {
    store = await open(() => reply({ type: 'migrating' }));
  } catch (error) {
    reply({ type: 'refused', error: encodeError(error) });
    return;
  }

  async function work(call: Call): Promise<void> {
    let next: Call | undefined = call;
    while (next !== undefined) {
      reply(await answer(store.operations, next));
      next = waiting.shift();
    }
    running -= 1;
    if (closing && running === 0) await end();
  }

  async function end(): Promise<void> {
    await store.close();
    port.close();
  }

  port.on('message', (request: StoreRequest) => {
    if (request.type === 'close') {
      closing = true;
      if (running === 0) void end();
    } else if (running === callsAtOnce) {
      waiting.push(request);
    } else {
      running += 1;
      void work(request);
    }
  });
  reply({ type: 'opened' });
}

async function answer(operations: StoreOperations, call: Call): Promise<StoreReply> {
  try {
    // The client checks the types of the protocol: it takes the parameters from the type of the named operation.
    const operation = operations[call.operation] as (...parameters: readonly unknown[]) => unknown;
    return { type: 'result', id: call.id, result: await operation(...call.parameters) };
  } catch (error) {
    return { type: 'error', id: call.id, error: encodeError(error) };
  }
}
