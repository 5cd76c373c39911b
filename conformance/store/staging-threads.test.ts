import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { archiveCalls } from '../../src/billing/archive/archive-calls.ts';
import type { PriceBookEntry } from '../../src/billing/rating/parse-price-book.ts';
import { createPriceBook } from '../../src/billing/rating/price-book.ts';
import { bookOf, plainEntry } from '../../src/billing/rating/testing/price-book-kit.ts';
import type { ComparedCalls } from '../../src/billing/staging/compare-calls.ts';
import { PriceComparison } from '../../src/billing/staging/price-comparison.ts';
import { rowOf } from '../../src/billing/staging/testing/priced-row-kit.ts';
import { openArchiveFilesLater } from '../../src/main/assembly/open-archive-files.ts';
import { compareInThread } from '../../src/main/programs/staging-threads/compare-in-thread.ts';
import { createEntry } from './call-entries.ts';
import { type ThreadEngine, threadEngines } from './thread-engines.ts';

const calls = 5000;
const janMs = Date.UTC(2026, 0, 30);
const everyMs = 60_000;
const endMs = janMs + calls * everyMs;
const model = { requestedModel: 'm-1', upstreamModel: 'm-1', vendor: 'acme' };
const dearer: Partial<PriceBookEntry> = {
  tiers: [{ inputAbove: 0, prices: { input: '3.1', output: '10' } }],
  multipliers: [{ name: 'hd', when: '/quality == "hd"', factor: '2' }],
};
const asked: ComparedCalls = {
  staged: { book: bookOf(plainEntry(dearer)) },
  current: { book: bookOf(plainEntry()), factors: { users: { bob: '0.9' } } },
  from: '2026-03-01',
  grouping: 'user',
  startMs: janMs + 7,
  endMs,
};
const retention = { months: 1 };

/** Calls with few and with many different counts, failures, parts, and parameters of requests. */
function createCall(index: number) {
  return createEntry(`call-${String(index).padStart(5, '0')}`, {
    ...model,
    acceptedAtMs: janMs + index * everyMs,
    userName: index % 3 === 0 ? 'bob' : 'alice',
    keyId: `key-${index % 3}`,
    end: index % 50 === 49 ? 'failed' : 'finished',
    usage: { inputTokens: 1000 + (index % 7 === 0 ? index : index % 4), outputTokens: 150 },
    charge: { amountNanoUsd: BigInt(2000 + index), lines: [] },
    ...(index % 11 === 0 && { pricingParameters: { '/quality': index % 2 === 0 ? '"hd"' : '"sd"' } }),
    ...(index % 13 === 0 && { parentCallId: 'call-00001' }),
  });
}

for (const { name, skip, open } of threadEngines) {
  describe(`staging ${name}`, { skip }, () => {
    let engine: ThreadEngine;
    before(async () => {
      engine = await open();
      const { store } = engine;
      for (let at = 0; at < calls; at += 500) await store.appendEntries(Array.from({ length: 500 }, (_, index) => createCall(at + index)));
      while ((await store.followCalls(500, endMs)) === 'more');
    });
    after(() => engine.close());

    const inThread = (options: Parameters<typeof compareInThread>[1] = {}) =>
      compareInThread({ calls: asked, database: engine.database, retention, dataDirectory: engine.folder }, options);

    /** Prices the entries one by one. */
    function compareHere() {
      const books = { staged: createPriceBook(asked.staged), current: createPriceBook(asked.current) };
      const comparison = new PriceComparison(asked.grouping, { ...books, atMs: Date.parse('2026-03-01T00:00:00Z') });
      for (let index = 1; index < calls; index += 1) comparison.add(rowOf(createCall(index)), createCall(index));
      return comparison.result();
    }

    test('a thread adds up every call exactly as if each entry were priced by itself, and reports its progress', async () => {
      const told: number[] = [];
      const result = await inThread({ report: (rows) => told.push(rows) });
      const expected = compareHere();
      assert.deepEqual(result, expected);
      assert.ok(expected.total.stagedNanoUsd > expected.total.inForceNanoUsd && expected.doubtful.length > 0);
      assert.deepEqual([told.at(-1), told.length > 3], [calls - 1, true]);
      assert.deepEqual(
        told.toSorted((one, other) => one - other),
        told,
      );
    });

    test('a thread that is stopped has the sums of what it priced until then', async () => {
      const stopping = new AbortController();
      const { total } = await inThread({ stop: stopping.signal, report: () => stopping.abort() });
      assert.ok(total.calls > 0 && total.calls < calls / 2, String(total.calls));
    });

    test('calls in archives have the same sums', async () => {
      const files = await openArchiveFilesLater({
        config: retention,
        environment: { dataDirectory: engine.folder },
        store: engine.store,
      })();
      const parts = { store: engine.store, files, clock: { nowMs: () => Date.UTC(2026, 3, 10) }, months: 1, owner: 'one' };
      const done = await archiveCalls({ ...parts, signal: new AbortController().signal });
      assert.ok(done.state === 'done' && done.archives.length > 0);
      assert.deepEqual(await inThread(), compareHere());
    });
  });
}

test('a database that cannot be opened ends the thread with the reason', async () => {
  const database = { path: join(tmpdir(), 'weir-no-such-folder', 'weir.db'), busyTimeoutMs: 100 };
  await assert.rejects(compareInThread({ calls: asked, database, retention, dataDirectory: tmpdir() }), /unable to open|cannot be opened/);
});
