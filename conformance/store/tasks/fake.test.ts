import { describe } from 'node:test';

import { createFakeTaskStore } from '../../../src/tasks/testing/fake-task-store.ts';
import { callbackSuite } from './callback-suite.ts';
import { endSuite } from './end-suite.ts';
import { pollSuite } from './poll-suite.ts';
import { submissionSuite } from './submission-suite.ts';
import { taskQuerySuite } from './task-query-suite.ts';

// Tests of the store's users run on the one in memory, so it must fulfil the contract, too.
describe('tasks and callbacks in memory', () => {
  for (const suite of [submissionSuite, pollSuite, endSuite, taskQuerySuite, callbackSuite]) {
    suite(async () => {
      const store = createFakeTaskStore();
      return { store, another: async () => store };
    });
  }
});
