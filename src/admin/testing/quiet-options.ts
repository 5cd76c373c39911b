import assert from 'node:assert/strict';

import { systemClock } from '../../platform/clock.ts';
import { silentLogger } from '../../platform/log.ts';
import type { AdminOptions } from '../admin-options.ts';

/** Options of an admin server at 127.0.0.1:8082 that refuses every caller, has no pages, and logs nothing. */
export const quietOptions = {
  authenticate: async () => undefined,
  idempotency: { begin: () => assert.fail('nothing is repeated') },
  pages: { read: async () => undefined },
  versionOf: async () => 0,
  address: { host: '127.0.0.1', port: () => 8082 },
  health: async () => [],
  clock: systemClock,
  logger: silentLogger,
} satisfies Partial<AdminOptions<object>>;
