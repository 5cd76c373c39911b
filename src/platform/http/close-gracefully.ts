import type { FastifyInstance } from 'fastify';

const IDLE_SWEEP_MS = 50;

/**
 * Accepts no new requests, lets running answers finish for at most `graceMs`, then closes their connections. Resolves
 * when all are closed.
 */
export async function closeGracefully(app: FastifyInstance, graceMs: number): Promise<void> {
  // A connection whose answer began before this stays open after its end, and the server would wait for it.
  const idleSweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
  const graceOver = setTimeout(() => app.server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearInterval(idleSweep);
    clearTimeout(graceOver);
  }
}
