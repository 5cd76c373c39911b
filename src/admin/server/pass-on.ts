import type { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import type { AdminLimits } from '../admin-options.ts';
import type { Operation, PassedRequest } from '../operation.ts';
import { notFound } from '../problem.ts';
import { apiPath } from './api-path.ts';

/**
 * The request of an operation that passes it on. Its connection may be silent for as long as the operation may wait.
 * The path is cut from the request as it was written: decoded parts never become a path again.
 * @throws AdminProblem `not_found` if the path was written in another way, such as with escaped letters
 */
export function passOn(
  path: string,
  { waitMsMax }: NonNullable<Operation<never>['passes']>,
  request: FastifyRequest,
  reply: FastifyReply,
  { idleMsMax }: AdminLimits,
): PassedRequest {
  const prefix = `${apiPath}${path.replace(/\/\{\w+\}$/, '')}`;
  if (!request.url.startsWith(`${prefix}/`)) throw notFound('path that is written in this way');
  const { socket } = request.raw;
  socket.setTimeout(waitMsMax);
  reply.raw.on('close', () => socket.setTimeout(idleMsMax));
  // Fastify's parser for this operation hands over the stream itself; a request without a body has none.
  const body = request.body as Readable | undefined;
  return { method: request.method, target: request.url.slice(prefix.length), headers: request.headers, body };
}
