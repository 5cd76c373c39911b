import type { CallExports } from '../../billing/calls/call-exports.ts';
import type { Environment } from '../environment.ts';
import { type ExportThreads, openExportThreads } from '../programs/export-threads/open-export-threads.ts';
import { describeAnswerDatabase } from './open-data-directory.ts';

/** Exports of calls for the console, made in threads of their own. Closed by `opened`. */
export function openCallExports(environment: Environment, opened: AsyncDisposableStack): CallExports {
  let threads: ExportThreads | undefined;
  opened.defer(async () => {
    await threads?.close();
  });
  return { open: (asked, signal) => (threads ??= openExportThreads(describeAnswerDatabase(environment))).open(asked, signal) };
}
