import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import fc from 'fast-check';

import { type ArchiveParts, archiveCalls, monthStart, verifyArchive } from '../../src/billing/archive/archive-calls.ts';
import type { ArchiveFiles, ArchiveStore } from '../../src/billing/archive/call-archive.ts';
import { withArchivedPrices, withArchives } from '../../src/billing/archive/with-archives.ts';
import { verifyStart } from '../../src/billing/credits/credit-books.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { rowIdsOf, settlementRowId } from '../../src/billing/ledger/row-ids.ts';
import { openArchiveFilesLater } from '../../src/main/assembly/open-archive-files.ts';
import { createPricedRowOperations } from '../../src/store/operations/priced-row-operations.ts';
import type { Store } from '../../src/store/store.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { listPriced, pricedPart } from './priced-row-suite.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const signal = new AbortController().signal;
const janMs = Date.UTC(2026, 0, 1);
const febMs = Date.UTC(2026, 1, 1);
const marMs = Date.UTC(2026, 2, 1);
const nowMs = Date.UTC(2026, 3, 10);

/** Everything that the books and statistics say, which archives must not change. */
async function readSums(store: Store, span = { startSeconds: janMs / 1000 + 31, endSeconds: nowMs / 1000 }) {
  const buckets = [{ startSeconds: janMs / 1000, endSeconds: nowMs / 1000 }];
  const statistics = await store.queryStatistics({ ...span, buckets, rowsMax: 1000 });
  const problems: unknown[] = [];
  for (let cursor = verifyStart; ;) {
    const slice = await store.verifyBooks({ cursor, limit: 100 });
    problems.push(...slice.problems);
    if (slice.next === undefined) return { statistics, problems };
    cursor = slice.next;
  }
}

async function follow(store: Store): Promise<void> {
  while ((await store.followCalls(200, nowMs)) === 'more');
}

/** The row with the newest facts is never archived: one that no test is about. */
async function addNewest(store: Store, callId = 'newest', acceptedAtMs = nowMs - 1): Promise<void> {
  await follow(store);
  await store.appendEntries([createEntry(callId, { acceptedAtMs })]);
  await follow(store);
}

/** A store whose named method fails from its nth call on, like a process that dies then. */
function failing(store: Store, method: keyof ArchiveStore, calls: number): ArchiveStore {
  let left = calls;
  return new Proxy<ArchiveStore>(store, {
    get: (target, name) => {
      const own = Reflect.get(target, name) as unknown;
      if (name !== method || typeof own !== 'function') return own;
      return async (...parameters: readonly unknown[]): Promise<unknown> => {
        if ((left -= 1) < 0) throw new Error('killed');
        return (await Reflect.apply(own, target, parameters)) as unknown;
      };
    },
  });
}

/** The contract of every store for archives of calls. */
export function archiveSuite(open: () => Promise<StoreUnderTest>): void {
  let engine: StoreUnderTest;
  let folder: string;
  let files: ArchiveFiles;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-archives-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** An empty database, and a folder of its own for files. */
  const begin = async (): Promise<Store> => {
    engine = await open();
    const path = join(await mkdtemp(join(folder, 'of-')), 'archive');
    files = await openArchiveFilesLater({
      config: { months: 1, folder: path },
      environment: { dataDirectory: folder },
      store: engine.store(),
    })();
    return engine.store();
  };
  const archive = (store: ArchiveStore, changes: Partial<ArchiveParts> = {}) =>
    archiveCalls({ store, files, clock: { nowMs: () => nowMs }, months: 1, owner: 'one', signal, ...changes });
  const reads = (store: Store) => withArchives(store, async () => files, signal);

  /** The rows that are priced again are those of the entries. */
  const readPriced = async (entries: readonly CallEntry[]): Promise<void> => {
    const { database, end } = await engine.openSnapshots().open();
    const priced = withArchivedPrices({ ...engine.store(), ...createPricedRowOperations(database) }, async () => files, signal);
    for (const limit of [7, 5000]) {
      const rows = await listPriced(priced, { startMs: janMs, endMs: nowMs }, limit);
      assert.deepEqual(
        rows.map((row) => ({ id: row.callId, nanoUsd: row.amountNanoUsd, part: pricedPart(row.readEntry()) })),
        entries.map((entry) => ({ id: entry.callId, nanoUsd: entry.charge.amountNanoUsd, part: pricedPart(entry) })),
      );
    }
    await end();
  };

  test('months that are over and not kept go to files, and nothing else changes: entries, sums, books, cut minutes', async () => {
    const store = await begin();
    let run = 0;
    const drawn = fc.sample(callEntries({ prefix: 'a', startMs: janMs, spanMs: marMs + 86_400_000 * 20 - janMs, max: 60 }), {
      numRuns: 30,
      seed: 7,
    });
    const entries = drawn.flatMap((group) => {
      run += 1;
      return group.map((entry): CallEntry => ({ ...entry, callId: `${entry.callId}-${run}`, heldPots: run % 2 }));
    });
    assert.ok(entries.length > 100);
    await store.appendEntries(entries);
    await addNewest(store);
    const before = await readSums(store);
    const listed = await store.listEntriesBetween({ startMs: janMs, endMs: nowMs, limit: 5000 });
    const done = await archive(store);
    assert.ok(done.state === 'done');
    assert.deepEqual(
      done.archives.map(({ id, state }) => [id, state]),
      [
        ['calls-2026-01', 'dropped'],
        ['calls-2026-02', 'dropped'],
      ],
    );
    const old = listed.filter(({ acceptedAtMs }) => acceptedAtMs < marMs);
    assert.equal(
      done.archives.reduce((sum, { sums }) => sum + sums.rows, 0),
      old.length,
    );
    assert.deepEqual(await store.listArchives(), done.archives);
    assert.deepEqual(await readSums(store), before, 'statistics and books');
    assert.deepEqual(before.problems, []);
    const merged = reads(store);
    for (const entry of entries) {
      assert.equal((await store.findEntry(entry.callId)) === undefined, entry.acceptedAtMs < marMs, entry.callId);
      assert.deepEqual(await merged.findEntry(entry.callId), entry);
    }
    for (const limit of [7, 5000]) {
      const paged: CallEntry[] = [];
      for (let page = [...(await merged.listEntriesBetween({ startMs: janMs, endMs: nowMs, limit }))]; page.length > 0;) {
        paged.push(...page);
        const last = page.at(-1) ?? assert.fail();
        page = page.length < limit ? [] : [...(await merged.listEntriesBetween({ startMs: janMs, endMs: nowMs, limit, after: last }))];
      }
      assert.deepEqual(paged, listed, `pages of ${limit}`);
    }
    await readPriced(listed);
    for (const known of done.archives) assert.deepEqual(await verifyArchive(files, known, signal), []);
    // A journal that comes back after months books nothing twice.
    assert.equal(await store.appendEntries(entries), 0);
    assert.deepEqual(await readSums(store), before);
    await engine.close();
  });

  test('the rows of a call are found with their transactions, and rows that came late go to a file of their own', async () => {
    const store = await begin();
    const rows = ['late', 'late.2', 'late.2.tools'].map((callId, at) =>
      createEntry(callId, { acceptedAtMs: janMs + at, heldPots: 1, ...(at > 0 && { parentCallId: 'late' }) }),
    );
    await store.appendEntries(rows);
    await addNewest(store);
    const transactions = await store.listCallTransactions(rowIdsOf('late'));
    assert.equal(transactions.length, 1);
    await archive(store);
    assert.deepEqual(await store.listCallRows('late'), []);
    assert.deepEqual(await reads(store).listCallRows('late'), rows);
    assert.deepEqual(await reads(store).listCallTransactions(rowIdsOf('late')), transactions);
    assert.equal(await store.appendEntries([createEntry('later', { acceptedAtMs: janMs + 1 })]), 1);
    await addNewest(store, 'newer');
    const again = await archive(store);
    assert.deepEqual(again.state === 'done' && again.archives.map(({ id, sums }) => [id, sums.rows]), [['calls-2026-01-2', 1]]);
    assert.deepEqual(
      (await reads(store).listEntriesBetween({ startMs: janMs, endMs: febMs, limit: 10 })).map(({ callId }) => callId),
      ['late', 'late.2', 'later', 'late.2.tools'],
    );
    assert.deepEqual(await archive(store), { state: 'done', archives: [] });
    await engine.close();
  });

  test('rows without facts, the newest row and impossible figures that nobody settled stay', async () => {
    const store = await begin();
    const disputed = { disputed: { figures: [], reported: {} }, acceptedAtMs: janMs };
    await store.appendEntries([
      createEntry('open', disputed),
      createEntry('settled', disputed),
      createEntry('plain', { acceptedAtMs: janMs }),
    ]);
    await store.appendEntries([createEntry(settlementRowId('settled'), { acceptedAtMs: janMs, parentCallId: 'settled' })]);
    assert.deepEqual(await archive(store), { state: 'done', archives: [] }, 'nothing has facts yet');
    await addNewest(store, 'newest', janMs);
    await archive(store);
    for (const [callId, stays] of [
      ['open', true],
      ['newest', true],
      ['settled', false],
      ['plain', false],
    ] as const)
      assert.equal((await store.findEntry(callId)) !== undefined, stays, callId);
    // The number of a dropped row is not used again: facts of the next row are written.
    await store.appendEntries([createEntry('next', { acceptedAtMs: nowMs })]);
    await follow(store);
    const progress = await store.followProgress();
    assert.equal(progress.waiting, 0);
    const { calls } = await store.scanCalls({ filter: {}, scope: 'all', limit: 10, workMs: 5000 });
    assert.deepEqual(calls.map(({ callId }) => callId).toSorted(), ['newest', 'next', 'open', 'plain', 'settled']);
    await engine.close();
  });

  test('wherever a run ends, each row is in the store or in a verified file, and the next run completes it', async () => {
    const store = await begin();
    const entries = Array.from({ length: 1300 }, (_, at) =>
      createEntry(`k-${String(at).padStart(4, '0')}`, { acceptedAtMs: janMs + at * 1000, heldPots: 1 }),
    );
    for (let at = 0; at < entries.length; at += 200) await store.appendEntries(entries.slice(at, at + 200));
    await addNewest(store);
    const before = await readSums(store);
    const kills: readonly (readonly [keyof ArchiveStore, number])[] = [
      ['listArchivable', 0],
      ['listArchivable', 2],
      ['keepArchive', 0],
      ['dropArchived', 0],
      ['dropArchived', 1],
      ['endArchive', 0],
    ];
    for (const [method, calls] of kills) {
      const dying = { claimed: await archive(failing(store, method, calls), { owner: 'dying' }).catch((error: unknown) => error) };
      assert.match(String(dying.claimed), /killed/, `${method} ${calls}`);
      assert.deepEqual(await readSums(store), before, method);
      for (const at of [0, 499, 500, 1299]) assert.deepEqual(await reads(store).findEntry(entries[at]?.callId ?? ''), entries[at]);
      const all = await reads(store).listEntriesBetween({ startMs: janMs, endMs: febMs, limit: 5000 });
      assert.deepEqual(all, entries, `${method} ${calls}`);
    }
    const end = await archive(store);
    assert.deepEqual(end.state === 'done' && end.archives.map(({ id, dropped }) => [id, dropped.rows]), [['calls-2026-01', 1300]]);
    assert.deepEqual(await reads(store).listEntriesBetween({ startMs: janMs, endMs: febMs, limit: 5000 }), entries);
    await engine.close();
  });

  test('a file that differs drops nothing, a damaged or missing one is named, and rows outside of files cannot be deleted', async () => {
    const store = await begin();
    await store.appendEntries([createEntry('kept', { acceptedAtMs: janMs })]);
    await addNewest(store);
    await assert.rejects(engine.tamper("delete from calls where call_id = 'kept'"), /append-only/);
    await assert.rejects(archive(failing(store, 'dropArchived', 0)), /killed/);
    const [known] = await store.listArchives();
    assert.ok(known !== undefined);
    assert.equal(known.state, 'verified');
    await store.claimArchiving({ owner: 'one', nowMs, untilMs: nowMs + 1 });
    const [row] = await store.listArchivable({ startMs: janMs, endMs: febMs, limit: 10 });
    assert.ok(row !== undefined);
    const other = { ...row, entry: row.entry.replace('1500', '1501') };
    await assert.rejects(store.dropArchived({ id: known.id, owner: 'one', rows: [other] }), /differs from the ledger; nothing was dropped/);
    await assert.rejects(store.dropArchived({ id: known.id, owner: 'two', rows: [row] }), /Another process archives/);
    await assert.rejects(engine.tamper("delete from calls where call_id = 'newest'"), /append-only/);
    await store.releaseArchiving('one');
    const path = files.placeOf(known.id);
    const bytes = await readFile(path);
    bytes[20] = (bytes[20] ?? 0) ^ 255;
    await writeFile(path, bytes);
    assert.notDeepEqual(await verifyArchive(files, known, signal), []);
    await assert.rejects(archive(store));
    assert.ok((await store.findEntry('kept')) !== undefined);
    await rm(path);
    assert.match(String(await verifyArchive(files, known, signal)), /calls-2026-01\.parquet is missing/);
    await assert.rejects(archive(store), /is missing/);
    assert.ok((await store.findEntry('kept')) !== undefined);
    await engine.close();
  });

  test('only one process archives; its lease ends when it is silent', async () => {
    const store = await begin();
    assert.equal(await store.claimArchiving({ owner: 'other', nowMs, untilMs: nowMs + 1000 }), true);
    assert.deepEqual(await archive(store), { state: 'busy' });
    assert.deepEqual(await archive(store, { clock: { nowMs: () => nowMs + 1000 } }), { state: 'done', archives: [] });
    await assert.rejects(archive(store, { months: 0 }), /At least 1 month/);
    assert.equal(monthStart(Date.UTC(2026, 0, 31), -1), Date.UTC(2025, 11, 1));
    await engine.close();
  });
}
