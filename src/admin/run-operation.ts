import type { Principal } from '../accounts/people/principal.ts';
import { pickDeclared } from './declared-members.ts';
import { type AdminContext, type Answer, isStream, type Operation, type RawInput, type StreamAnswer } from './operation.ts';
import { permissionProblem } from './permission-problem.ts';
import { AdminProblem } from './problem.ts';

/** How old the last sign-in may be for an operation that needs a recent one (requirement S7). */
const recentMs = 15 * 60_000;

/** @throws AdminProblem `permission_required`, `recent_sign_in_required` */
export function assertMayRun(operation: Operation<never>, principal: Principal, nowMs: number): void {
  const { access, recentSignIn } = operation;
  if (access !== 'anybody' && access !== 'signed-in' && !principal.permissions.has(access)) throw permissionProblem(principal, access);
  if (recentSignIn !== true || principal.sessionId === undefined) return;
  if (nowMs - (principal.signedInAtMs ?? -Infinity) <= recentMs) return;
  throw new AdminProblem(
    'recent_sign_in_required',
    'This needs a sign-in of the last 15 minutes: confirm it with your password or a new link (POST /api/v1/session/confirm), or at your provider (/oidc/start?confirm=true).',
  );
}

/**
 * Runs an operation for somebody who may run it. Members that the schema of the answer does not declare are left out,
 * so that nothing leaves by accident.
 */
export async function runOperation<Services, Params, Query, Body, Reply>(
  operation: Operation<Services, Params, Query, Body, Reply>,
  input: RawInput,
  context: AdminContext<Services>,
): Promise<Answer<unknown> | StreamAnswer> {
  assertMayRun(operation, context.principal, context.nowMs());
  const answer = await operation.run(input, context);
  const { reply } = operation.schemas;
  if (isStream(answer) || reply === undefined) return answer;
  return { ...answer, body: pickDeclared(reply, answer.body) };
}
