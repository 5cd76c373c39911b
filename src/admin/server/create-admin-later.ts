import type { FastifyInstance } from 'fastify';

import type { AdminOptions } from '../admin-options.ts';
import { adminLimitsDefault, createAdmin, createServer } from './create-admin.ts';
import { createErrorHandler } from './refuse.ts';
import { securityHeaders } from './security-headers.ts';
import { openOnce } from '../../platform/open-once.ts';

/**
 * A server that answers as the one of `createAdmin`, whose routes are made when the first request arrives: they cost
 * 45 ms of processor time and 10 MB, which a process has for nothing until somebody opens its console.
 */
export function createAdminLater<Services>(options: AdminOptions<Services>): FastifyInstance {
  const limits = options.limits ?? adminLimitsDefault;
  // It has the port and the limits of time of connections; the other one has no port and answers.
  const front = createServer(options.clock, limits);
  const made = openOnce(async () => {
    const app = await createAdmin(options);
    await app.ready();
    return app;
  });
  front.setErrorHandler(createErrorHandler(options.logger, limits.bodyBytesMax));
  // Hooks run before the body is read, so the other server reads it.
  front.addHook('onRequest', async (request, reply) => {
    void reply.headers(securityHeaders(undefined)).header('x-request-id', request.id);
    const app = await made.get();
    reply.hijack();
    app.routing(request.raw, reply.raw);
  });
  // The front has no routes. Its hooks run for this handler, which is never reached.
  front.setNotFoundHandler(() => {
    throw new Error('a request was not passed on');
  });
  front.addHook('preClose', async () => {
    // If it could not be made, each request was answered so, and the reason is in the log.
    await (await made.ifOpened())?.close();
  });
  return front;
}
