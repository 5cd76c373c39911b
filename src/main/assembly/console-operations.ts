import {
  createOperationRunner,
  OperationFailure,
  type OperationHandler,
  type OperationRunner,
} from '../../control/operations/operation-runner.ts';
import { reconcilingKind } from '../../admin/resources/reconciliations/create-reconciliation.ts';
import { archiveVerifyingKind, archivingKind } from '../../admin/resources/archives/archive-operations.ts';
import { stagingKind } from '../../admin/resources/prices/stage-operation.ts';
import { PriceBookError } from '../../billing/rating/parse-price-book.ts';
import { stageDraft, type StagingInput } from '../../billing/staging/stage-draft.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';
import { compareInThread } from '../programs/staging-threads/compare-in-thread.ts';
import { createPriceDesk } from './create-price-desk.ts';
import { describeStaging } from './describe-staging.ts';
import { createArchiveVerifying, createArchiving, withArchivedCalls } from './run-archiving.ts';
import { createReconciling } from './run-reconciliation.ts';

type Parts = {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly opened: AsyncDisposableStack;
};

/** The long operations that the process of the console runs, by kind: one line for each. */
function listHandlers(parts: Parts): Readonly<Record<string, OperationHandler>> {
  const reconciling = createReconciling({ ...parts, desk: createPriceDesk(parts.environment) });
  return {
    [stagingKind]: createStaging(parts),
    [reconcilingKind]: reconciling,
    [archivingKind]: createArchiving(parts),
    [archiveVerifyingKind]: createArchiveVerifying(parts),
  };
}

/** Prices calls again with a draft. */
function createStaging({ store, clock, environment }: Parts): OperationHandler {
  return async (input, { signal, report }) => {
    const tell = (done: number): void => report({ done, unit: 'rows' });
    try {
      const result = await stageDraft(input as StagingInput, {
        store,
        desk: createPriceDesk(environment),
        nowMs: clock.nowMs(),
        compare: (calls) => compareInThread(describeStaging(environment, calls), { stop: signal, report: tell }),
      });
      if (result !== undefined) return result;
    } catch (cause) {
      if (cause instanceof PriceBookError) throw new OperationFailure('invalid_request', cause.message, { cause });
      throw cause;
    }
    throw new OperationFailure('not_found', 'The draft was deleted.');
  };
}

/** Begins to run the long operations that need no gateway, until `opened` is closed. */
export function startConsoleOperations(parts: Parts): OperationRunner {
  const { store, clock, logger, opened } = parts;
  const reading = withArchivedCalls(parts);
  const runner = createOperationRunner({ store, clock, logger, handlers: listHandlers({ ...parts, store: reading }) });
  opened.defer(() => runner.close());
  runner.start();
  return runner;
}
