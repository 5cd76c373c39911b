import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Principal } from '../../accounts/people/principal.ts';
import { createAllowances } from '../../platform/allowances.ts';
import { networkOf } from '../../accounts/network-of.ts';
import type { AdminLimits, AdminOptions, Credential } from '../admin-options.ts';
import type { Operation } from '../operation.ts';
import { AdminProblem } from '../problem.ts';
import { assertMayRun } from '../run-operation.ts';
import { addressOf } from './address-of.ts';
import { readOrigin, refuseCrossOrigin, refuseForms, type RequestOrigin } from './origin.ts';
import { assertMaySignIn, readSessionCookie, writeSessionCookie } from './session-cookie.ts';

/** The caller of a request that may run its operation. */
type Caller = { readonly principal: Principal; readonly origin: RequestOrigin };

export type Callers = {
  /** A hook that refuses a request before its body is read, unless its caller may run the operation. */
  readonly admit: (operation: Operation<never>) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  readonly of: (request: FastifyRequest) => Caller;
};

/** A caller without a session: of the operations that anybody may run. */
function nobody({ id: requestId, headers }: FastifyRequest, address: string): Principal {
  const userAgent = headers['user-agent'];
  const author = { actor: 'anybody', via: 'api', address, requestId, ...(userAgent !== undefined && { userAgent }) } as const;
  return { permissions: new Set(), users: [], author };
}

export function createCallers<Services>(options: AdminOptions<Services>, limits: AdminLimits): Callers {
  const { authenticate, address, clock } = options;
  const admitted = new WeakMap<FastifyRequest, Caller>();
  const requests = createAllowances(limits.requestsPerMinute, clock);
  const wrong = createAllowances(limits.wrongCredentialsPerMinute, clock);

  async function find(request: FastifyRequest, credential: Credential | undefined) {
    if (credential === undefined)
      throw new AdminProblem('unauthenticated', 'Sign in, or send an admin token as Authorization: Bearer at-weir-….');
    const from = addressOf(request, options);
    const network = networkOf(from);
    assertAllowed(wrong.waitSeconds(network), 'Too many wrong credentials came from this address.');
    const signal = AbortSignal.timeout(limits.operationMsMax);
    const found = await authenticate(credential, { address: from, requestId: request.id, signal });
    if (found !== undefined) return found;
    wrong.take(network);
    const what = credential.kind === 'session' ? 'The session has ended: sign in again.' : 'The admin token is not valid, or has expired.';
    throw new AdminProblem('unauthenticated', what);
  }

  return {
    admit: (operation) => async (request, reply) => {
      const origin = readOrigin(request.headers, address);
      const credential = readCredential(request, origin);
      const hasCookie = credential?.kind === 'session';
      refuseCrossOrigin(request.method, request.headers, origin, hasCookie);
      if (operation.passes !== undefined && hasCookie) refuseForms(request.method, request.headers);
      if (operation.access === 'anybody') {
        if (operation.method !== 'GET') assertMaySignIn(origin);
        admitted.set(request, { principal: nobody(request, addressOf(request, options)), origin });
        return;
      }
      const { principal, newToken } = await find(request, credential);
      if (newToken !== undefined) writeSessionCookie(reply, origin, { token: newToken });
      const { actor } = principal.author;
      assertAllowed(requests.waitSeconds(actor), 'Too many requests of this session or token.');
      requests.take(actor);
      assertMayRun(operation, principal, clock.nowMs());
      admitted.set(request, { principal, origin });
    },
    of: (request) => {
      const caller = admitted.get(request);
      if (caller === undefined) throw new Error('The request was not admitted.');
      return caller;
    },
  };
}

function assertAllowed(waitSeconds: number, detail: string): void {
  if (waitSeconds === 0) return;
  throw new AdminProblem('too_many_requests', `${detail} Retry after ${waitSeconds} s.`, {
    headers: { 'retry-after': String(waitSeconds) },
  });
}

/** @throws AdminProblem `two_credentials` */
function readCredential(request: FastifyRequest, origin: RequestOrigin): Credential | undefined {
  const cookie = readSessionCookie(request, origin);
  const { authorization } = request.headers;
  if (authorization === undefined) return cookie === undefined ? undefined : { kind: 'session', secret: cookie };
  if (cookie !== undefined)
    throw new AdminProblem('two_credentials', 'The request has a session cookie and Authorization; send one of them.');
  const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
  if (secret === undefined) throw new AdminProblem('unauthenticated', 'Authorization must be: Bearer at-weir-….');
  return { kind: 'token', secret };
}
