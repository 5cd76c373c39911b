import type { FastifyReply, FastifyRequest } from 'fastify';

import { AdminProblem } from '../problem.ts';
import type { Answer } from '../operation.ts';
import type { RequestOrigin } from './origin.ts';

/**
 * The name of the cookie (requirement S2). With the prefix, browsers accept it from this host alone and over https
 * alone. Over http to a loopback name it cannot have the prefix.
 */
const cookieName = ({ isHttps }: RequestOrigin): string => (isHttps ? '__Host-weir_session' : 'weir_session');

/** The cookie may live this long; the server ends sessions earlier. */
const sessionSecondsMax = 7 * 86_400;

/** The session token that the browser sent. */
export function readSessionCookie(request: FastifyRequest, origin: RequestOrigin): string | undefined {
  return request.cookies[cookieName(origin)];
}

/**
 * Whether a browser that opens a page may have a session. After a link on another site it does not send the cookie, so
 * then it may.
 */
export function mayHaveSession({ cookies, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  const isSent = site === 'none' || site === 'same-origin';
  return !isSent || cookies['weir_session'] !== undefined || cookies['__Host-weir_session'] !== undefined;
}

/** Sets or clears the cookie of a session that began or ended. */
export function writeSessionCookie(reply: FastifyReply, origin: RequestOrigin, session: NonNullable<Answer<unknown>['session']>): void {
  const options = { path: '/', httpOnly: true, sameSite: 'strict', secure: origin.isHttps } as const;
  if (session === 'end') void reply.clearCookie(cookieName(origin), options);
  else void reply.setCookie(cookieName(origin), session.token, { ...options, maxAge: sessionSecondsMax });
}

/** @throws AdminProblem `tls_required` where a cookie could be read on the way */
export function assertMaySignIn({ isHttps, isLoopback }: RequestOrigin): void {
  if (isHttps || isLoopback) return;
  throw new AdminProblem(
    'tls_required',
    'Sign-in over http works on this machine only: put a proxy with TLS in front, and set console.publicUrl to its https address.',
  );
}
