import type { AdminContext, Operation, RawInput } from '../operation.ts';
import { isStream } from '../operation.ts';
import { AdminProblem } from '../problem.ts';
import { runOperation } from '../run-operation.ts';
import { versionMismatch } from './if-match.ts';

const changing: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'DELETE']);

/**
 * The operation that shows the object which an operation changes: GET of its path, or of the path above it for a part
 * such as `/targets/{id}/override`. Undefined if there is none.
 */
export function findReading<Services>(
  operations: readonly Operation<Services>[],
  { method, path }: Operation<Services>,
): Operation<Services> | undefined {
  if (!changing.has(method)) return undefined;
  const paths = [path, ...(path.endsWith('}') ? [] : [path.slice(0, path.lastIndexOf('/'))])];
  const shown = operations.filter(({ method: reads, streams, passes }) => reads === 'GET' && streams === undefined && passes === undefined);
  return paths.map((each) => shown.find((operation) => operation.path === each)).find((found) => found !== undefined);
}

/**
 * A 412 with the object as it is now, so that a client can show what has changed. Without it if the caller may not see
 * the object, or if it is gone.
 */
export async function withPresentState<Services>(
  mismatch: AdminProblem,
  reading: Operation<Services>,
  { params }: Pick<RawInput, 'params'>,
  context: Pick<AdminContext<Services>, 'principal' | 'services' | 'signal' | 'nowMs' | 'change'>,
): Promise<AdminProblem> {
  try {
    const answer = await runOperation(reading, { params, query: {}, body: undefined }, { ...context, expected: undefined });
    return isStream(answer) ? mismatch : versionMismatch(answer.version, answer.body);
  } catch (error) {
    if (error instanceof AdminProblem && (error.code === 'not_found' || error.code === 'permission_required')) return mismatch;
    throw error;
  }
}
