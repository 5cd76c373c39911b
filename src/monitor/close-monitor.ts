import type { FastifyInstance } from 'fastify';

const IDLE_SWEEP_MS = 50;

/**
 * Accepts no new requests, lets running answers finish for at most `graceMs`, then closes their connections. Resolves
 * when all are closed.
 */
export async function closeMonitor(monitor: FastifyInstance, graceMs: number): Promise<void> {
  // A connection whose answer began before this stays open after its end, and the server would wait for it.
  const idleSweep = setInterval(() => monitor.server.closeIdleConnections(), IDLE_SWEEP_MS);
  const graceOver = setTimeout(() => monitor.server.closeAllConnections(), graceMs);
  try {
    await monitor.close();
  } finally {
    clearInterval(idleSweep);
    clearTimeout(graceOver);
  }
}
