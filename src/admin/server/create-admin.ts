import fastifyCookie from '@fastify/cookie';
import { fastify, type FastifyInstance } from 'fastify';

import type { Clock } from '../../platform/clock.ts';
import { noRouteSchemas } from '../../platform/http/no-route-schemas.ts';
import { createIds } from '../../platform/ids.ts';
import type { AdminLimits, AdminOptions } from '../admin-options.ts';
import type { Operation } from '../operation.ts';
import { uploadBytesMax } from '../upload.ts';
import { adminOpenApi } from '../open-api.ts';
import { jsonType } from './answer.ts';
import { addPageRoutes } from '../pages/page-routes.ts';
import { apiPath } from './api-path.ts';
import { createCallers } from './callers.ts';
import { addHealthRoutes } from './health-routes.ts';
import { parseJsonBody } from './json-body.ts';
import { addOidcRoutes } from './oidc-routes.ts';
import { readOrigin } from './origin.ts';
import { addProblemPages } from './problem-pages.ts';
import { createErrorHandler, refuseBadUrl, refuseMalformed, refuseUnknownRoute } from './refuse.ts';
import { securityHeaders } from './security-headers.ts';
import { createServe } from './serve.ts';

export const adminLimitsDefault: AdminLimits = {
  bodyBytesMax: 1024 * 1024,
  // An upload of 64 MiB over a slow line needs minutes. Headers have a minute of their own.
  requestMsMax: 300_000,
  operationMsMax: 30_000,
  idleMsMax: 60_000,
  requestsPerMinute: 600,
  wrongCredentialsPerMinute: 30,
  oidcRequestsPerMinute: 60,
};

/**
 * The admin API: every operation below `/api/v1`, and health. Every answer has the security headers, every refusal is a
 * problem (RFC 9457), and a request is refused as early as possible: Host, path, credential, rate, permission, body.
 */
export async function createAdmin<Services>(options: AdminOptions<Services>): Promise<FastifyInstance> {
  const limits = options.limits ?? adminLimitsDefault;
  const app = createServer(options.clock, limits);
  await app.register(fastifyCookie);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);
  // It is read when its caller is known, by the operation that takes it.
  app.addContentTypeParser('multipart/form-data', async (_request: unknown, payload: unknown) => payload);
  app.setErrorHandler(createErrorHandler(options.logger, limits.bodyBytesMax));
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(securityHeaders(undefined)).header('x-request-id', request.id);
    // Probes reach a container by its address.
    if (request.url.startsWith('/health')) return;
    void reply.headers(securityHeaders(readOrigin(request.headers, options.address)));
  });
  const pages = addPageRoutes(app, options.pages);
  app.addHook('onRequest', refuseUnknownRoute(options.operations, pages.isPage));
  closeConnectionsAtEnd(app);

  const callers = createCallers(options, limits);
  const addRoute = (scope: FastifyInstance, operation: Operation<Services>): FastifyInstance =>
    scope.route({
      method: operation.method,
      url: routePath(operation),
      onRequest: callers.admit(operation),
      ...bodyLimitOf(operation),
      handler: createServe(operation, options, limits, callers),
    });
  const passing = options.operations.filter(({ passes }) => passes !== undefined);
  for (const operation of options.operations) if (operation.passes === undefined) addRoute(app, operation);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    for (const operation of passing) addRoute(scope, operation);
  });
  let description: string | undefined;
  app.get(`${apiPath}/openapi.json`, async (_request, reply) =>
    reply.type(jsonType).send((description ??= JSON.stringify(adminOpenApi(options.operations)))),
  );
  if (options.oidc !== undefined) addOidcRoutes(app, { ...options, oidc: options.oidc, limits });
  addProblemPages(app);
  addHealthRoutes(app, options);
  return app;
}

/** A server without routes, with the limits of the admin API. */
export function createServer(clock: Clock, limits: AdminLimits): FastifyInstance {
  const ids = createIds(clock);
  return fastify({
    schemaController: noRouteSchemas,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestMsMax,
    connectionTimeout: limits.idleMsMax,
    genReqId: () => ids('adm'),
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseBadUrl,
    return503OnClosing: false,
    // Parameters are names and ids of our own lengths, percent-encoded.
    routerOptions: { maxParamLength: 2048 },
  });
}

/** A form is a little larger than its file. */
const formBytes = 256 * 1024;

function bodyLimitOf({ takesFile, bodyBytesMax }: Operation<never>): { readonly bodyLimit?: number } {
  if (takesFile === true) return { bodyLimit: uploadBytesMax + formBytes };
  return bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax };
}

/** The path of an operation as the router writes it. */
function routePath({ path, passes }: Operation<never>): string {
  const pattern = `${apiPath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  return passes === undefined ? pattern : pattern.replace(/:\w+$/, '*');
}

/** A connection that stays open would keep the server from closing. */
function closeConnectionsAtEnd(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) void reply.header('connection', 'close');
  });
}
