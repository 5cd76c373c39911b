import { parentPort, workerData } from 'node:worker_threads';
import { createAccountsOperations } from './accounts-operations.ts';
import { createCallbackOperations } from './callback-operations.ts';
import { createFileSearchOperations } from './file-search-operations.ts';
import { createLedgerOperations } from './ledger-operations.ts';
import { createConversationOperations } from './conversation-operations.ts';
import type { Database } from './open-database.ts';
import { openStoreDatabase } from './open-store-database.ts';
import { createProofOperations } from './proof-operations.ts';
import { createStatisticsOperations } from './statistics-operations.ts';
import { readDatabaseId } from './read-database-id.ts';
import { createVideoTaskOperations } from './video-task-operations.ts';
import { encodeError } from './store-protocol.ts';
import type { StoreOperations, StoreReply, StoreRequest, StoreWorkerData } from './store-protocol.ts';

/** The thread that owns a connection. It does one call after the other, and ends when it is told to close or could not open. */
function serve(data: StoreWorkerData): void {
  const port = parentPort;
  if (port === null) throw new Error('The store worker runs only as a worker thread.');
  const reply = (message: StoreReply): void => port.postMessage(message);
  let database: Database;
  try {
    database = openStoreDatabase(data);
  } catch (error) {
    reply({ type: 'refused', error: encodeError(error) });
    return;
  }
  const operations: StoreOperations = {
    ...createAccountsOperations(database),
    ...createLedgerOperations(database),
    ...createStatisticsOperations(database),
    ...createProofOperations(database),
    ...createConversationOperations(database),
    ...createFileSearchOperations(database),
    ...createVideoTaskOperations(database),
    ...createCallbackOperations(database),
    databaseId: () => readDatabaseId(database),
  };
  port.on('message', (request: StoreRequest) => {
    if (request.type === 'close') {
      database.close();
      port.close();
      return;
    }
    reply(answer(operations, request));
  });
  reply({ type: 'opened' });
}

function answer(operations: StoreOperations, request: Extract<StoreRequest, { type: 'call' }>): StoreReply {
  try {
    // The typed side of the protocol is the client: it takes the parameters from the type of the operation it names.
    const operation = operations[request.operation] as (...parameters: readonly unknown[]) => unknown;
    return { type: 'result', id: request.id, result: operation(...request.parameters) };
  } catch (error) {
    return { type: 'error', id: request.id, error: encodeError(error) };
  }
}

serve(workerData as StoreWorkerData);
