import assert from 'node:assert/strict';
import { test } from 'node:test';

import { forecastMonth } from './forecast.ts';

test('a month goes on as until now, exact, in the zone of the books', () => {
  assert.equal(forecastMonth(10_000_000_000_000_001n, Date.parse('2026-11-16T00:00:00Z'), 'UTC'), 20_000_000_000_000_002n);
  assert.equal(forecastMonth(15n, Date.parse('2026-11-15T16:00:00Z'), 'Asia/Shanghai'), 30n);
  assert.equal(forecastMonth(15n, Date.parse('2026-11-01T01:00:00Z'), 'UTC'), undefined);
});
