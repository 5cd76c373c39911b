import { callbackSuite } from './tasks/callback-suite.ts';
import { endSuite } from './tasks/end-suite.ts';
import { pollSuite } from './tasks/poll-suite.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';
import { submissionSuite } from './tasks/submission-suite.ts';
import { taskEngineSuite } from './tasks/task-engine-suite.ts';
import type { OpenTasks, TaskStores } from './tasks/task-fixtures.ts';
import { taskListSuite } from './tasks/task-list-suite.ts';
import { taskQuerySuite } from './tasks/task-query-suite.ts';

/** The behaviour of every engine for video tasks and callbacks. */
export function taskSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  let other: Promise<TaskStores> | undefined;
  /** Emptying the tables is faster than opening a database for each test. */
  const openTasks: OpenTasks = async (context) => {
    context.after(async () => {
      for (const table of ['video_idempotency', 'video_requests', 'video_tasks', 'callback_deliveries', 'callback_secrets'])
        await engine().tamper(`delete from ${table}`);
    });
    return { store: engine().store(), another: async () => await (other ??= engine().openAnother()) };
  };
  for (const suite of [submissionSuite, pollSuite, endSuite, taskQuerySuite, callbackSuite]) suite(openTasks);
  taskListSuite(engine);
  taskEngineSuite(open);
}
