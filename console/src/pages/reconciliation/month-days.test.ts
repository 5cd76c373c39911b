import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Comparison, daysOf, guessVendor, monthDays, nextMonth } from './month-days.ts';

const comparison = (more: Partial<Comparison>): Comparison => ({
  id: 'rec_1',
  created_at: '2026-11-25T00:00:00.000Z',
  actor: 'person:fin',
  vendor: 'openai',
  upstream: null,
  kind: 'usage',
  time_zone: 'UTC',
  from: '2026-11-03T00:00:00.000Z',
  to: '2026-11-06T00:00:00.000Z',
  tolerance: '0',
  prices: 'in_force',
  file: { name: 'usage.json', bytes: 1, sha256: '' },
  operation_id: null,
  state: 'agrees',
  problem: null,
  compared: 3,
  differing: 0,
  over_tolerance: 0,
  ours: null,
  theirs: null,
  charged: null,
  ended_at: null,
  note: null,
  accepted: null,
  ...more,
});

test('each day of a month agrees, differs or is missing; later days are not missing yet', () => {
  const later = comparison({
    id: 'rec_2',
    created_at: '2026-11-26T00:00:00.000Z',
    state: 'differs',
    from: '2026-11-05T00:00:00.000Z',
    to: '2026-11-08T00:00:00.000Z',
  });
  const days = monthDays('2026-11', [later, comparison({})], new Map([['rec_2', new Set(['2026-11-06'])]]), '2026-11-09');
  const states = new Map(days.map(({ day, state }) => [day.slice(-2), state]));
  assert.deepEqual(
    ['02', '03', '05', '06', '07', '08', '09', '30'].map((day) => states.get(day)),
    ['missing', 'agrees', 'agrees', 'differs', 'agrees', 'missing', 'future', 'future'],
  );
  assert.equal(days.length, 30);
});

test('a comparison that failed later does not hide a result, and an accepted one is said to be so', () => {
  const failed = comparison({ id: 'rec_3', created_at: '2026-11-27T00:00:00.000Z', state: 'failed' });
  const accepted = comparison({ state: 'differs', accepted: { at: '', by: 'person:fin' } });
  const [, , third] = monthDays('2026-11', [failed, accepted], new Map(), '2026-12-01');
  assert.deepEqual([third?.day, third?.state, third?.comparison?.id], ['2026-11-03', 'accepted', 'rec_1']);
});

test('days are those of the vendor, also where clocks change', () => {
  assert.deepEqual(daysOf({ from: '2026-03-08T08:00:00Z', to: '2026-03-10T07:00:00Z', time_zone: 'America/Los_Angeles' }), [
    '2026-03-08',
    '2026-03-09',
  ]);
  assert.equal(nextMonth('2026-12', 1), '2027-01');
  assert.equal(nextMonth('2026-01', -1), '2025-12');
});

test('the vendor of an export is recognised by its form', () => {
  assert.equal(guessVendor('{"object":"page","data":[{"results":[{"object":"organization.usage.completions.result"'), 'openai');
  assert.equal(guessVendor('{"data":[{"starting_at":"2026-11-20T00:00:00Z"'), 'anthropic');
  assert.equal(guessVendor('Project,SKU description,SKU ID,Usage start date'), 'google');
  assert.equal(guessVendor('a,b,c'), undefined);
});
