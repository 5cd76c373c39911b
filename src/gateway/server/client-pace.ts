import type { MinimumBodyRate } from '../../platform/http/connection-guard.ts';

const second = 1000;

/**
 * Limits on how slowly a client may send, and how long a connection may be idle: longer than usual balancers keep one, so that it is they who close it. A peer that
 * has vanished without a word is found by the system's own probes. Docs: docs/guide/timeouts.md.
 */
export const serverSettings = {
  headersTimeout: 10 * second,
  // Behind `bodyPace`, which answers in the client's dialect.
  requestTimeout: 330 * second,
  keepAliveTimeout: 75 * second,
  connectionsCheckingInterval: 2 * second,
  keepAlive: true,
  keepAliveInitialDelay: 30 * second,
};

/** How slowly the body of a request may come. */
export const bodyPace: MinimumBodyRate = { windowMs: 10 * second, bytesMin: 10 * 1024, totalMs: 300 * second };
