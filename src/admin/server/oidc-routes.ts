import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { networkOf } from '../../accounts/network-of.ts';
import { OidcError, type OidcErrorCode } from '../../accounts/people/oidc/oidc-error.ts';
import type { OidcSignIns } from '../../accounts/people/oidc/oidc-sign-ins.ts';
import { createAllowances } from '../../platform/allowances.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { AdminLimits, AdminOptions } from '../admin-options.ts';
import { AdminProblem, unavailable } from '../problem.ts';
import { addressOf } from './address-of.ts';
import { readOrigin, type RequestOrigin } from './origin.ts';
import { assertMaySignIn, readSessionCookie, writeSessionCookie } from './session-cookie.ts';

const startPath = '/oidc/start';
const callbackPath = '/oidc/callback';

/** As long as a sign-in may take. */
const keptSeconds = 600;

/** The name of the cookie that keeps a sign-in which has begun, as that of a session. */
const cookieName = ({ isHttps }: RequestOrigin): string => (isHttps ? '__Host-weir_oidc' : 'weir_oidc');

/** The way back comes from the provider's site, so the cookie must be sent with a link from there. */
const cookieOptions = ({ isHttps }: RequestOrigin) => ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps }) as const;

type Parts = Pick<AdminOptions<never>, 'address' | 'isProxy' | 'authenticate' | 'clock' | 'logger'> & {
  readonly oidc: OidcSignIns;
  readonly limits: AdminLimits;
};

/**
 * The two addresses to which a browser goes to sign in at a provider: `/oidc/start`, with `?confirm=true` to prove
 * again who the person of the session is, and `/oidc/callback`, to which the provider sends it back.
 */
export function addOidcRoutes(app: FastifyInstance, parts: Parts): void {
  const { oidc, address, clock, logger, limits } = parts;
  const attempts = createAllowances(limits.oidcRequestsPerMinute, clock);

  function enter(request: FastifyRequest): RequestOrigin {
    const origin = readOrigin(request.headers, address);
    assertMaySignIn(origin);
    const network = networkOf(addressOf(request, parts));
    const waitSeconds = attempts.waitSeconds(network);
    if (waitSeconds > 0)
      throw new AdminProblem('too_many_requests', `Too many sign-ins were begun from this address. Retry after ${waitSeconds} s.`, {
        headers: { 'retry-after': String(waitSeconds) },
      });
    attempts.take(network);
    return origin;
  }

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(startPath, { exposeHeadRoute: false }, async (request, reply) => {
    const origin = enter(request);
    const confirms = request.query['confirm'] === 'true' ? await findSession(request, reply, origin, parts) : undefined;
    const wanted = { redirectUrl: `${origin.origin}${callbackPath}`, ...(confirms === undefined ? {} : { confirms }) };
    const { url, kept } = await atProvider((signal) => oidc.begin(wanted, signal));
    void reply.setCookie(cookieName(origin), kept, { ...cookieOptions(origin), maxAge: keptSeconds });
    return reply.redirect(url, 303);
  });

  app.get(callbackPath, { exposeHeadRoute: false }, async (request, reply) => {
    const origin = enter(request);
    const kept = request.cookies[cookieName(origin)] ?? '';
    void reply.clearCookie(cookieName(origin), cookieOptions(origin));
    const at = request.url.indexOf('?');
    const back = { search: at === -1 ? '' : request.url.slice(at), kept, redirectUrl: `${origin.origin}${callbackPath}` };
    const opened = await atProvider((signal) =>
      oidc.finish(back, { address: addressOf(request, parts), requestId: request.id, ...userAgentOf(request) }, signal),
    );
    if (opened === 'refused')
      throw new AdminProblem(
        'unauthenticated',
        'The provider knows you, but your account there has no role here, or is disabled here: ask an operator.',
      );
    writeSessionCookie(reply, origin, { token: opened.token });
    return reply.redirect('/', 303);
  });

  async function atProvider<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const limit = AbortSignal.timeout(limits.operationMsMax);
    try {
      return await waitFor(work(limit), limits.operationMsMax);
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      if (error.code !== 'expired') logger.warn({ err: error, kind: error.code }, 'sign-in at the provider failed');
      throw asProblem(error.code);
    }
  }
}

/** The id of the session whose cookie the browser sent. @throws AdminProblem `unauthenticated` */
async function findSession(
  request: FastifyRequest,
  reply: FastifyReply,
  origin: RequestOrigin,
  parts: Pick<Parts, 'authenticate' | 'isProxy' | 'limits'>,
): Promise<string> {
  const secret = readSessionCookie(request, origin);
  const signal = AbortSignal.timeout(parts.limits.operationMsMax);
  const from = { address: addressOf(request, parts), requestId: request.id, signal };
  const found = secret === undefined ? undefined : await parts.authenticate({ kind: 'session', secret }, from);
  if (found?.newToken !== undefined) writeSessionCookie(reply, origin, { token: found.newToken });
  const { sessionId, personId } = found?.principal ?? {};
  if (sessionId === undefined || personId === undefined) throw new AdminProblem('unauthenticated', 'The session has ended: sign in again.');
  return sessionId;
}

function userAgentOf({ headers }: FastifyRequest): { readonly userAgent?: string } {
  const userAgent = headers['user-agent'];
  return userAgent === undefined ? {} : { userAgent };
}

/** The refusal that the browser shows. It does not say what a forger could use. */
function asProblem(code: OidcErrorCode): AdminProblem {
  if (code === 'unavailable')
    return unavailable('The sign-in provider does not answer, or not as OpenID Connect demands: try again in a moment.');
  const again = `Begin again at ${startPath}.`;
  const details: Readonly<Record<Exclude<OidcErrorCode, 'unavailable'>, string>> = {
    expired: `The sign-in took longer than ten minutes, or was begun in another browser. ${again}`,
    denied: `The provider refused the sign-in. ${again}`,
    invalid: `The answer of the provider does not belong to this sign-in, or the provider did not sign it. ${again}`,
  };
  return new AdminProblem('unauthenticated', details[code]);
}
