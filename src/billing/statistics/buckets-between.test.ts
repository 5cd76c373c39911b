import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TooManyBucketsError, bucketsBetween } from './buckets-between.ts';
import { formatBucketTime } from './format-bucket-time.ts';
import type { Granularity } from './granularity.ts';

// Zones with a quarter-hour offset, half-hour clock changes, changes at midnight and one minute past it, skipped dates
// and plain ones.
const zones = [
  'UTC',
  'Asia/Shanghai',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'America/Havana',
  'Africa/Cairo',
  'Europe/Berlin',
  'Antarctica/Troll',
  'Asia/Pyongyang',
  'America/Caracas',
  'America/New_York',
];
const bucketsMax = 50_000;

/** A second implementation of the calendar, with Intl instead of Temporal. */
function createLocalClock(timeZone: string): (seconds: number) => { localSeconds: number; date: string; minute: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (seconds) => {
    const parts = new Map(format.formatToParts(seconds * 1000).map((part) => [part.type, Number(part.value)]));
    const read = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? Number.NaN;
    const localMs = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'));
    return { localSeconds: localMs / 1000, date: new Date(localMs).toISOString().slice(0, 10), minute: read('minute') };
  };
}

/** A key of the bucket of a local date; later buckets have greater keys. */
function dateKey(date: string, granularity: Granularity): string {
  if (granularity === 5) return date.slice(0, 7);
  if (granularity === 3) return date;
  const day = new Date(`${date}T00:00:00Z`);
  const daysSinceMonday = (day.getUTCDay() + 6) % 7;
  return new Date(day.getTime() - daysSinceMonday * 86_400_000).toISOString().slice(0, 10);
}

/** Bounds found by walking through time in small steps. */
function slowBounds(granularity: Granularity, from: number, to: number, timeZone: string, stepSeconds: number): number[] {
  const localClock = createLocalClock(timeZone);
  const bounds: number[] = [];
  let before = localClock(from - stepSeconds);
  let latestKey = dateKey(before.date, granularity);
  for (let seconds = from; seconds < to; seconds += stepSeconds) {
    const now = localClock(seconds);
    if (granularity === 2) {
      const jump = now.localSeconds - before.localSeconds - stepSeconds;
      if (now.minute === 0 || jump % 3600 !== 0) bounds.push(seconds);
    } else {
      // If the clock goes back over midnight, a date returns for a while; it stays in the bucket of the date that had
      // begun.
      const key = dateKey(now.date, granularity);
      if (key > latestKey) {
        bounds.push(seconds);
        latestKey = key;
      }
    }
    before = now;
  }
  return bounds;
}

function assertTiles(buckets: ReturnType<typeof bucketsBetween>, startSeconds: number, endSeconds: number): void {
  assert.ok((buckets[0]?.startSeconds ?? Infinity) <= startSeconds && (buckets[0]?.endSeconds ?? -Infinity) > startSeconds);
  const last = buckets.at(-1);
  assert.ok((last?.startSeconds ?? Infinity) < endSeconds && (last?.endSeconds ?? -Infinity) >= endSeconds);
  buckets.forEach((bucket, index) => {
    assert.ok(bucket.endSeconds > bucket.startSeconds);
    assert.ok(Number.isInteger(bucket.startSeconds / 60));
    if (index > 0) assert.equal(bucket.startSeconds, buckets[index - 1]?.endSeconds);
  });
}

/** A moment near one of the zone's clock changes, where errors are likely. */
const nearChange = fc
  .record({
    timeZone: fc.constantFrom(...zones),
    near: fc.integer({ min: 315_532_800, max: 2_082_758_400 }),
    minutesBefore: fc.integer({ min: -1500, max: 1500 }),
  })
  .map(({ timeZone, near, minutesBefore }) => {
    const change = Temporal.Instant.fromEpochMilliseconds(near * 1000)
      .toZonedDateTimeISO(timeZone)
      .getTimeZoneTransition('next');
    const seconds = change === null ? near : change.epochMilliseconds / 1000;
    return { timeZone, startSeconds: Math.floor(seconds / 60) * 60 - minutesBefore * 60 };
  });

for (const [granularity, spanMinutes, stepSeconds] of [
  [2, 6 * 60, 60],
  [3, 36 * 60, 60],
  [4, 15 * 24 * 60, 900],
  [5, 62 * 24 * 60, 1800],
] as const) {
  test(`granularity ${granularity}: bounds equal those of a slow walk through Intl's calendar, also around clock changes`, () => {
    fc.assert(
      fc.property(nearChange, fc.integer({ min: 1, max: spanMinutes }), ({ timeZone, startSeconds }, minutes) => {
        const endSeconds = startSeconds + minutes * 60;
        const buckets = bucketsBetween({ granularity, startSeconds, endSeconds, timeZone, bucketsMax });
        assertTiles(buckets, startSeconds, endSeconds);
        const first = buckets[0]?.startSeconds ?? 0;
        const last = buckets.at(-1)?.endSeconds ?? 0;
        // A coarse walk must start on its grid and finds bounds only to its step; one minute past midnight is exact
        // only for hours and days.
        const from = Math.floor(first / stepSeconds) * stepSeconds;
        const expected = slowBounds(granularity, from, last + stepSeconds, timeZone, stepSeconds);
        const found = [...buckets.map((bucket) => bucket.startSeconds), last].map((bound) => Math.ceil(bound / stepSeconds) * stepSeconds);
        assert.deepEqual(found, expected.slice(0, found.length));
      }),
      { numRuns: 12 },
    );
  });
}

test('every interval is covered without gap or overlap, with every granularity and zone', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Granularity>(1, 2, 3, 4, 5),
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 2_082_758_400 }),
      fc.integer({ min: 1, max: 500_000 }),
      (granularity, timeZone, startSeconds, lengthSeconds) => {
        const endSeconds = startSeconds + lengthSeconds;
        assertTiles(bucketsBetween({ granularity, startSeconds, endSeconds, timeZone, bucketsMax }), startSeconds, endSeconds);
      },
    ),
    { numRuns: 200 },
  );
});

test('the buckets of adjacent intervals match, so no moment belongs to two buckets', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Granularity>(1, 2, 3, 4, 5),
      nearChange,
      fc.integer({ min: 1, max: 90_000 }),
      fc.integer({ min: 1, max: 90_000 }),
      (granularity, { timeZone, startSeconds }, firstSeconds, secondSeconds) => {
        const middle = startSeconds + firstSeconds;
        const end = middle + secondSeconds;
        const between = (from: number, to: number) =>
          bucketsBetween({ granularity, startSeconds: from, endSeconds: to, timeZone, bucketsMax });
        const parts = new Set([...between(startSeconds, middle), ...between(middle, end)].map((bucket) => JSON.stringify(bucket)));
        assert.deepEqual(
          [...parts],
          between(startSeconds, end).map((bucket) => JSON.stringify(bucket)),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test('weeks start on Monday at midnight by the local clock', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 1_500_000_000, max: 2_000_000_000 }), (timeZone, startSeconds) => {
      for (const week of bucketsBetween({
        granularity: 4,
        startSeconds,
        endSeconds: startSeconds + 20 * 86_400,
        timeZone,
        bucketsMax,
      })) {
        const local = Temporal.Instant.fromEpochMilliseconds(week.startSeconds * 1000).toZonedDateTimeISO(timeZone);
        assert.equal(local.dayOfWeek, 1);
        assert.equal(week.startSeconds * 1000, local.startOfDay().epochMilliseconds);
      }
    }),
    { numRuns: 50 },
  );
});

function describeDays(timeZone: string, from: string, days: number): string[] {
  const startSeconds = Date.parse(`${from}T12:00:00Z`) / 1000;
  return bucketsBetween({ granularity: 3, startSeconds, endSeconds: startSeconds + days * 86_400, timeZone, bucketsMax }).map(
    (bucket) => `${formatBucketTime(bucket.startSeconds, timeZone)} ${(bucket.endSeconds - bucket.startSeconds) / 3600}h`,
  );
}

test('days have 23 and 25 hours around the clock changes of Berlin', () => {
  assert.deepEqual(describeDays('Europe/Berlin', '2026-03-28', 2), [
    '2026-03-28 00:00:00 24h',
    '2026-03-29 00:00:00 23h',
    '2026-03-30 00:00:00 24h',
  ]);
  assert.deepEqual(describeDays('Europe/Berlin', '2026-10-25', 1), ['2026-10-25 00:00:00 25h', '2026-10-26 00:00:00 24h']);
});

test('a day without midnight starts with its first moment', () => {
  assert.deepEqual(describeDays('America/Sao_Paulo', '2018-11-03', 1), ['2018-11-03 00:00:00 24h', '2018-11-04 01:00:00 23h']);
});

test('a date that the zone skipped has no bucket', () => {
  assert.deepEqual(describeDays('Pacific/Apia', '2011-12-29', 1), ['2011-12-29 00:00:00 24h', '2011-12-31 00:00:00 24h']);
});

function describeHours(timeZone: string, from: string, to: string): string[] {
  const startSeconds = Date.parse(from) / 1000;
  return bucketsBetween({ granularity: 2, startSeconds, endSeconds: Date.parse(to) / 1000, timeZone, bucketsMax }).map(
    (bucket) => `${formatBucketTime(bucket.startSeconds, timeZone)} ${(bucket.endSeconds - bucket.startSeconds) / 60}min`,
  );
}

test('hours follow the local clock in a zone with a quarter-hour offset', () => {
  assert.deepEqual(describeHours('Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'), [
    '2026-01-01 05:00:00 60min',
    '2026-01-01 06:00:00 60min',
  ]);
});

test('an hour that the clock shows twice is two buckets', () => {
  assert.deepEqual(describeHours('Europe/Berlin', '2026-10-25T00:00:00Z', '2026-10-25T02:30:00Z'), [
    '2026-10-25 02:00:00 60min',
    '2026-10-25 02:00:00 60min',
    '2026-10-25 03:00:00 60min',
  ]);
});

test('a clock change by half an hour is itself a bound, also when the interval starts right after it', () => {
  const expected = ['2026-10-04 01:00:00 60min', '2026-10-04 02:30:00 30min', '2026-10-04 03:00:00 60min'];
  assert.deepEqual(describeHours('Australia/Lord_Howe', '2026-10-03T15:00:00Z', '2026-10-03T16:30:00Z'), expected);
  assert.deepEqual(describeHours('Australia/Lord_Howe', '2026-10-03T15:40:00Z', '2026-10-03T16:30:00Z'), expected.slice(1));
});

for (const [what, timeZone, from, to, expected] of [
  [
    'by half an hour, at no full hour,',
    'America/Caracas',
    '2016-05-01T06:00:00Z',
    '2016-05-01T08:00:00Z',
    ['01:00:00 60min', '02:00:00 30min', '03:00:00 60min'],
  ],
  [
    'by an hour, one minute after one,',
    'America/St_Johns',
    '2010-03-14T03:00:00Z',
    '2010-03-14T04:00:00Z',
    ['23:00:00 60min', '00:00:00 60min'],
  ],
  [
    'by an hour, at a quarter to one,',
    'Pacific/Chatham',
    '2026-09-26T13:30:00Z',
    '2026-09-26T14:30:00Z',
    ['02:00:00 60min', '04:00:00 60min'],
  ],
] as const)
  test(`a clock change ${what} is a bound only if the full hours move: ${timeZone}`, () => {
    const timesOf = (start: string): string[] => describeHours(timeZone, start, to).map((hour) => hour.slice('2026-01-01 '.length));
    assert.deepEqual(timesOf(from), expected);
    // Every later start gives the same hours from its own on.
    for (let ms = Date.parse(from); ms < Date.parse(to); ms += 60_000) {
      const seen = timesOf(new Date(ms).toISOString());
      assert.deepEqual(seen, expected.slice(-seen.length));
    }
  });

test('a minute of a date that begins twice belongs to the date that began first', () => {
  // In St. John's the clock went from 00:01 back to 23:01: the seventh had begun at 02:30 UTC, and begins only once.
  const startSeconds = Date.parse('2010-11-07T02:45:00Z') / 1000;
  const days = bucketsBetween({ granularity: 3, startSeconds, endSeconds: startSeconds + 60, timeZone: 'America/St_Johns', bucketsMax });
  assert.deepEqual(days, [
    { startSeconds: Date.parse('2010-11-07T02:30:00Z') / 1000, endSeconds: Date.parse('2010-11-08T03:30:00Z') / 1000 },
  ]);
});

test('an offset with seconds yields bounds in whole minutes', () => {
  const buckets = bucketsBetween({ granularity: 2, startSeconds: 0, endSeconds: 100_000, timeZone: 'Africa/Monrovia', bucketsMax });
  assertTiles(buckets, 0, 100_000);
});

test('the number of buckets is bounded exactly', () => {
  const query = { granularity: 1, startSeconds: 0, endSeconds: 600, timeZone: 'UTC' } as const;
  assert.equal(bucketsBetween({ ...query, bucketsMax: 10 }).length, 10);
  assert.throws(() => bucketsBetween({ ...query, bucketsMax: 9 }), TooManyBucketsError);
});

test('an empty interval has no buckets', () => {
  assert.deepEqual(bucketsBetween({ granularity: 3, startSeconds: 100, endSeconds: 100, timeZone: 'UTC', bucketsMax }), []);
});
