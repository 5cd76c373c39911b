import assert from 'node:assert/strict';
import { test } from 'node:test';

import { watchSource } from './watch-source.ts';

test('a failure is a warning while the last credential is good, and an error when there is none', () => {
  const logged: unknown[] = [];
  const log = (level: string) => (facts: unknown, message?: unknown) => void logged.push([level, message, facts]);
  const upstreams = [{ id: 'a' }, { id: 'a' }, { id: 'b' }];
  const logger = { info: log('info'), warn: log('warn'), error: log('error') };
  const { failed, recovered } = watchSource(() => upstreams, { clock: { nowMs: () => 1_000 }, logger });
  failed('down', { fetchedAtMs: 1, expiresAtMs: 2_000 });
  failed('down', { fetchedAtMs: 1, expiresAtMs: 1_000 });
  failed('down', {});
  recovered();
  const names = ['a', 'b'];
  assert.deepEqual(logged, [
    ['warn', 'renewing a credential failed', { upstreams: names, reason: 'down', endsAt: '1970-01-01T00:00:02.000Z' }],
    ['error', 'fetching a credential failed', { upstreams: names, reason: 'down' }],
    ['error', 'fetching a credential failed', { upstreams: names, reason: 'down' }],
    ['info', 'credential fetched after a failure', { upstreams: names }],
  ]);
});
