import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readSpan } from '../components/span.ts';
import { dayTicks, instantIn, showOffset, showTime } from './times.ts';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'];

test('a time on the clocks of a zone is the instant that shows it', () => {
  for (const zone of zones)
    for (const wall of ['2026-01-15T00:00', '2026-07-15T12:30', '2026-10-25T12:00', '2026-03-29T12:00'])
      assert.equal(showTime(instantIn(wall, zone), zone).slice(0, 16).replace(' ', 'T'), wall, zone);
});

test('a time that a clock change skips is moved forward, and of one that occurs twice the first is meant', () => {
  assert.equal(showTime(instantIn('2026-03-29T02:30', 'Europe/Berlin'), 'Europe/Berlin'), '2026-03-29 03:30:00');
  assert.equal(new Date(instantIn('2026-10-25T02:30', 'Europe/Berlin')).toISOString(), '2026-10-25T00:30:00.000Z');
});

test('months begin at midnight of the zone', () => {
  const { from, to, isOpen } = readSpan({ r: 'lastMonth' }, 'Asia/Kathmandu', Date.parse('2026-11-27T12:00:00Z'), '24h');
  assert.deepEqual([from, to, isOpen], ['2026-09-30T18:15:00.000Z', '2026-10-31T18:15:00.000Z', false]);
  assert.equal(showOffset(from, 'Asia/Kathmandu'), 'UTC+05:45');
});

const daysFrom = (day: string, count: number, step = 1): readonly string[] =>
  Array.from({ length: count }, (_, index) => new Date(Date.parse(day) + index * step * 86_400_000).toISOString());

test('an axis of some weeks has days, and a longer one months', () => {
  assert.deepEqual(dayTicks(daysFrom('2026-11-26', 2), 'UTC'), [{ tick: '26\u00a0Nov' }, { tick: '27\u00a0Nov' }]);
  const year = dayTicks(daysFrom('2025-11-28', 365), 'UTC').flatMap(({ tick, isMonth }) => (isMonth === true ? [tick] : []));
  assert.deepEqual(year.slice(0, 3), ['Dec', 'Jan\u00a02026', 'Feb']);
  assert.equal(year.length, 12);
});

test('weeks have the words of the month that begins in them', () => {
  const weeks = dayTicks(daysFrom('2026-01-05', 20, 7), 'UTC').flatMap(({ tick, isMonth }) => (isMonth === true ? [tick] : []));
  assert.deepEqual(weeks, ['Jan\u00a02026', 'Feb', 'Mar', 'Apr', 'May']);
});
