import type { FastifyInstance } from 'fastify';

import { problemCodes } from '../problem-codes.ts';

/** A short page for each code, at the address that the `type` of a problem names. */
export function addProblemPages(app: FastifyInstance): void {
  for (const [code, { status, title, retryable }] of Object.entries(problemCodes)) {
    const text = `${code} (HTTP ${status})\n\n${title} ${retryable ? 'The same request may succeed later.' : 'The same request fails again.'}\n`;
    app.get(`/problems/${code}`, async (_request, reply) => reply.type('text/plain; charset=utf-8').send(text));
  }
}
