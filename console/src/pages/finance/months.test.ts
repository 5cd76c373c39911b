import assert from 'node:assert/strict';
import { test } from 'node:test';

import { monthBefore } from './months.ts';

test('a month begins and ends at midnight of its zone, also over a change of clocks and of the year', () => {
  const now = Date.parse('2026-01-01T02:00:00Z');
  assert.deepEqual(monthBefore(now, 'UTC', 1), { name: '2025-12', from: '2025-12-01T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z' });
  assert.equal(monthBefore(now, 'America/New_York', 0).name, '2025-12', 'the new year has not begun there');
  const march = monthBefore(Date.parse('2026-04-15T00:00:00Z'), 'Europe/Berlin', 1);
  assert.deepEqual([march.from, march.to], ['2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z']);
});
