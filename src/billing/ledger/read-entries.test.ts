import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { entries } from './testing/entry-arbitrary.ts';
import { readEntries } from './read-entries.ts';

const [sample] = fc.sample(entries, 1);
assert.ok(sample);
const entry = sample;

for (const [count, pages] of [
  [0, 1],
  [1, 1],
  [499, 1],
  [500, 2],
  [501, 2],
  [1500, 4],
] as const)
  test(`${count} rows are read once each, in ${pages} pages that each continue after the last`, async () => {
    const rows = Array.from({ length: count }, (_, index) => ({ ...entry, callId: `c${index}`, acceptedAtMs: 1000 + index }));
    const queries: unknown[] = [];
    const listEntriesBetween: Parameters<typeof readEntries>[0]['listEntriesBetween'] = ({ startMs, endMs, limit, after }) => {
      queries.push({ startMs, endMs, ...(after === undefined ? {} : { after }) });
      const from = after === undefined ? 0 : rows.findIndex((row) => row.callId === after.callId) + 1;
      return Promise.resolve(rows.slice(from, from + limit));
    };
    assert.deepEqual(await Array.fromAsync(readEntries({ listEntriesBetween }, { startMs: 1000, endMs: 9000 })), rows);
    const span = { startMs: 1000, endMs: 9000 };
    const last = (page: number) => ({ after: { acceptedAtMs: 999 + page * 500, callId: `c${page * 500 - 1}` } });
    assert.deepEqual(
      queries,
      Array.from({ length: pages }, (_, page) => (page === 0 ? span : { ...span, ...last(page) })),
    );
  });
