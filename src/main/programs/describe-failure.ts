import { ConfigError } from '../config/config-error.ts';
import { StartError } from '../environment.ts';

const toldErrors = new Set(['AccountsError', 'AdminProblem', 'DataDirectoryLockedError', 'PeopleError', 'StoreError']);

/** Errors that an operator can correct are shown as their message; any other error is a bug and keeps its stack. */
export function describeFailure(error: unknown): string {
  const told = error instanceof StartError || error instanceof ConfigError || (error instanceof Error && toldErrors.has(error.name));
  if (told) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
