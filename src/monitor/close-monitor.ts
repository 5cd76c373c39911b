import type { FastifyInstance } from 'fastify';

const IDLE_SWEEP_MS = 50;

/** Takes no new requests, lets running answers finish for at most `graceMs`, then breaks the rest off. Resolves when all are gone. */
export async function closeMonitor(monitor: FastifyInstance, graceMs: number): Promise<void> {
  // A connection whose answer had begun before stays open after it, and the server would wait for it.
  const idleSweep = setInterval(() => monitor.server.closeIdleConnections(), IDLE_SWEEP_MS);
  const graceOver = setTimeout(() => monitor.server.closeAllConnections(), graceMs);
  try {
    await monitor.close();
  } finally {
    clearInterval(idleSweep);
    clearTimeout(graceOver);
  }
}
