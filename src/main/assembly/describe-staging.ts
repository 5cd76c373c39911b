import type { ComparedCalls } from '../../billing/staging/compare-calls.ts';
import type { Environment } from '../environment.ts';
import type { StagingThreadData } from '../programs/staging-threads/compare-in-thread.ts';
import { describeAnswerDatabase } from './open-data-directory.ts';
import { readRetention } from './run-archiving.ts';

/** What a thread needs that prices the calls of this data directory again. */
export function describeStaging(environment: Environment, calls: ComparedCalls): StagingThreadData {
  const { dataDirectory } = environment;
  return { calls, database: describeAnswerDatabase(environment), retention: readRetention(environment), dataDirectory };
}
