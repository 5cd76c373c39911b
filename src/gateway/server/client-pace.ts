import type { MinimumBodyRate } from '../../platform/http/connection-guard.ts';

const second = 1000;

/**
 * How slowly a client may send, and how long a connection may be idle: longer than common load balancers keep one, so
 * that they close it first. The system's own probes find a peer that has vanished silently. Docs:
 * docs/guide/timeouts.md.
 */
export const serverSettings = {
  headersTimeout: 10 * second,
  // Later than `bodyPace`, which answers in the client's dialect.
  requestTimeout: 330 * second,
  keepAliveTimeout: 75 * second,
  connectionsCheckingInterval: 2 * second,
  keepAlive: true,
  keepAliveInitialDelay: 30 * second,
};

/** The slowest body of a request. */
export const bodyPace: MinimumBodyRate = { windowMs: 10 * second, bytesMin: 10 * 1024, totalMs: 300 * second };
