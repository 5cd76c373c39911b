import type { FastifyRequest } from 'fastify';

import type { Principal } from '../../accounts/people/principal.ts';
import type { AdminOptions } from '../admin-options.ts';
import type { Operation, RawInput } from '../operation.ts';
import { AdminProblem } from '../problem.ts';

const changing: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'DELETE']);

/**
 * The version that the caller has seen, of an operation that changes an existing object. The store compares it once
 * more in the transaction of the change, so that of two changes at once only one succeeds.
 * @returns undefined if the operation has no version, or the caller accepts any (`If-Match: *`)
 * @throws AdminProblem `if_match_required`, `version_mismatch`
 */
export async function readExpectedVersion<Services>(
  { method, matchRequired, subject, versionOf: ownVersion, present: presentState }: Operation<Services>,
  request: FastifyRequest,
  input: RawInput,
  principal: Principal,
  { versionOf, services, clock }: AdminOptions<Services>,
): Promise<number | undefined> {
  if ((!changing.has(method) && matchRequired !== true) || (subject === undefined && ownVersion === undefined)) return undefined;
  const header = request.headers['if-match'];
  if (header === undefined)
    throw new AdminProblem('if_match_required', 'Send If-Match with the ETag of the object as you have seen it, or * for any.');
  if (header.trim() === '*') return undefined;
  const version =
    subject === undefined ? await ownVersion?.(input.params, services, principal, clock.nowMs()) : await versionOf(subject(input.params));
  const seen = header.split(',').map((tag) => tag.trim());
  if (seen.includes(`"${version}"`)) return version;
  throw versionMismatch(version, await presentState?.(input.params, services));
}

/**
 * A 412: somebody else has changed the object.
 * @param current the present state, if the object shows it
 */
export function versionMismatch(version: number | undefined, current?: unknown): AdminProblem {
  return new AdminProblem(
    'version_mismatch',
    'The object was changed since you read it: read it again, and repeat your change if it is still right.',
    {
      ...(version !== undefined && { headers: { etag: `"${version}"` } }),
      ...(current !== undefined && { members: { current } }),
    },
  );
}
