import { createOperationRunner, type OperationHandler, type OperationRunner } from '../../control/operations/operation-runner.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';

type Parts = { readonly store: Store; readonly clock: Clock; readonly logger: Logger; readonly opened: AsyncDisposableStack };

/** The long operations that the process of the console runs, by kind: one line for each. */
function listHandlers(_parts: Parts): Readonly<Record<string, OperationHandler>> {
  return {};
}

/** Begins to run the long operations that need no gateway, until `opened` is closed. */
export function startConsoleOperations(parts: Parts): OperationRunner {
  const { store, clock, logger, opened } = parts;
  const runner = createOperationRunner({ store, clock, logger, handlers: listHandlers(parts) });
  opened.defer(() => runner.close());
  runner.start();
  return runner;
}
