import assert from 'node:assert/strict';
import { test } from 'node:test';

import { monthPlaces, roundPlaces } from './ticks.ts';

test('a time axis has words at full hours, however many bars there are and wherever they begin', () => {
  const fiveMinutes = Array.from({ length: 288 }, (_, index) => (15 * 60 + 5 + index * 5) % 1440);
  const words = [...roundPlaces(fiveMinutes, 17)].map((index) => fiveMinutes[index]);
  assert.deepEqual(words, [960, 1080, 1200, 1320, 0, 120, 240, 360, 480, 600, 720, 840]);
});

test('hours of a zone that is a quarter of an hour off have words where its clocks show full hours', () => {
  const minutes = [45, 60, 75, 90, 105, 120, 135];
  assert.deepEqual([...roundPlaces(minutes, 2)], [1, 3, 5]);
});

test('bars of hours over many days have words at some of the midnights, as far apart as others', () => {
  const sixHours = Array.from({ length: 120 }, (_, index) => (index * 360) % 1440);
  assert.deepEqual([...roundPlaces(sixHours, 9)].slice(0, 3), [0, 12, 24]);
});

test('bars that never begin at a round time have words at equal distances', () => {
  assert.deepEqual([...roundPlaces([45, 105, 165, 225], 2)], [0, 2]);
});

test('an axis of a year has each month, and on a phone every third one', () => {
  const isFirst = Array.from({ length: 365 }, (_, index) => new Date(Date.UTC(2026, 0, 1 + index)).getUTCDate() === 1);
  assert.equal(monthPlaces(isFirst, 20).size, 12);
  assert.deepEqual([...monthPlaces(isFirst, 80)], [0, 90, 181, 273]);
});
