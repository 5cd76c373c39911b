import type { FastifyInstance } from 'fastify';

/** Takes no new requests, lets running answers finish for at most `graceMs`, then breaks the rest off. Resolves when all are gone. */
export async function closeMonitor(monitor: FastifyInstance, graceMs: number): Promise<void> {
  const graceOver = setTimeout(() => monitor.server.closeAllConnections(), graceMs);
  try {
    await monitor.close();
  } finally {
    clearTimeout(graceOver);
  }
}
