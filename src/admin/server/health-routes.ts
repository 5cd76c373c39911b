import type { FastifyInstance, FastifyReply } from 'fastify';

import { release } from '../../platform/release.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { AdminOptions } from '../admin-options.ts';
import { jsonType } from './answer.ts';

const healthMsMax = 2000;

/** Health of the process, of its dependencies, and of both, as on the other ports. They need no session. */
export function addHealthRoutes<Services>(
  app: FastifyInstance,
  { health, logger }: Pick<AdminOptions<Services>, 'health' | 'logger'>,
): void {
  let running: Promise<readonly string[]> | undefined;
  const check = async (): Promise<readonly string[]> => {
    try {
      return await waitFor(health(), healthMsMax);
    } catch (error) {
      logger.warn({ err: error }, 'admin health check failed');
      return ['the health check failed'];
    } finally {
      running = undefined;
    }
  };
  const send = (reply: FastifyReply, status: number, report: object): FastifyReply =>
    reply.code(status).type(jsonType).send(JSON.stringify(report));
  for (const path of ['/health', '/health/ready']) {
    app.get(path, async (_request, reply) => {
      // Probes that arrive while a check runs share its result.
      const reasons = await (running ??= check());
      const isReady = reasons.length === 0;
      const what = path === '/health' ? release : {};
      return send(reply, isReady ? 200 : 503, { live: true, ready: isReady, ...(isReady ? {} : { reasons }), ...what });
    });
  }
  app.get('/health/live', async (_request, reply) => send(reply, 200, { live: true }));
}
