import { callbackSuite } from './tasks/callback-suite.ts';
import { endSuite } from './tasks/end-suite.ts';
import { pollSuite } from './tasks/poll-suite.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { submissionSuite } from './tasks/submission-suite.ts';
import { taskEngineSuite } from './tasks/task-engine-suite.ts';
import type { OpenTasks } from './tasks/task-fixtures.ts';
import { taskQuerySuite } from './tasks/task-query-suite.ts';

/** What every engine does with video tasks and callbacks. */
export function taskSuite(open: () => Promise<StoreUnderTest>): void {
  const openTasks: OpenTasks = async (context) => {
    const engine = await open();
    context.after(engine.close);
    return { store: engine.store(), another: engine.openAnother };
  };
  for (const suite of [submissionSuite, pollSuite, endSuite, taskQuerySuite, callbackSuite]) suite(openTasks);
  taskEngineSuite(open);
}
