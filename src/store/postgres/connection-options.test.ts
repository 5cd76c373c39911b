import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toClientConfig } from './connection-options.ts';
import { postgresDefaults } from './open-postgres-store.ts';

test('each connection has its own settings, whatever those of the server are', () => {
  const { options } = toClientConfig({ ...postgresDefaults, url: 'postgresql://weir@localhost/weir', readOnly: true });
  assert.deepEqual(
    options
      ?.split('-c ')
      .map((setting) => setting.trim())
      .slice(1),
    ['synchronous_commit=on', 'timezone=UTC', 'jit=off', 'max_parallel_workers_per_gather=0', 'default_transaction_read_only=on'],
  );
});
