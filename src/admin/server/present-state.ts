import type { Principal } from '../../accounts/people/principal.ts';
import type { AdminOptions } from '../admin-options.ts';
import { isStream, type Operation } from '../operation.ts';
import { AdminProblem } from '../problem.ts';
import { runOperation } from '../run-operation.ts';
import { versionMismatch } from './if-match.ts';
import { toProblem } from './refuse.ts';

const changing: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'DELETE']);

/**
 * The operation that shows the object which an operation changes: GET of its path, or of the path above it for a part
 * such as `/targets/{id}/override`. Undefined if there is none.
 */
function findReading<Services>(
  operations: readonly Operation<Services>[],
  { method, path }: Operation<Services>,
): Operation<Services> | undefined {
  if (!changing.has(method)) return undefined;
  const paths = [path, ...(path.endsWith('}') ? [] : [path.slice(0, path.lastIndexOf('/'))])];
  const shown = operations.filter((each) => each.method === 'GET' && each.streams === undefined && each.passes === undefined);
  return paths.map((each) => shown.find((operation) => operation.path === each)).find((found) => found !== undefined);
}

type Refused = {
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
  readonly signal: AbortSignal;
};

/**
 * Makes a function that adds the object as it is now to a 412 of an operation, so that a client can show what has
 * changed: `current`, unless the caller has no permission to read it. An object that the caller may not see, or that is
 * gone, is 404. Other errors stay as they are.
 */
export function createPresentState<Services>(
  operation: Operation<Services>,
  { operations, services, clock }: Pick<AdminOptions<Services>, 'operations' | 'services' | 'clock'>,
  bodyBytesMax: number,
): (error: unknown, refused: Refused) => Promise<unknown> {
  const reading = findReading(operations, operation);
  return async (error, { params, principal, signal }) => {
    if (reading === undefined || !(error instanceof Error)) return error;
    const problem = toProblem(error, bodyBytesMax);
    if (problem.code !== 'version_mismatch' || 'current' in problem.members) return error;
    const change = () => ({ ...principal.author, atMs: clock.nowMs() });
    const context = { principal, services, signal, nowMs: clock.nowMs, expected: undefined, change };
    try {
      const answer = await runOperation(reading, { params, query: {}, body: undefined }, context);
      return isStream(answer) ? problem : versionMismatch(answer.version, answer.body);
    } catch (caught) {
      if (caught instanceof AdminProblem && caught.code === 'permission_required') return problem;
      // The version of an object of others would disclose that it exists: it is answered like one that does not.
      if (caught instanceof AdminProblem && caught.code === 'not_found') return caught;
      throw caught;
    }
  };
}
