import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { silentLogger } from '../../platform/log.ts';
import type { CallEntry } from '../ledger/call-entry.ts';
import { decodeForLedger } from '../ledger/ledger-form.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { entry, opening } from './testing/call-kit.ts';
import { createJournal } from './create-journal.ts';
import { recordTypes, scanSegment } from './journal-record.ts';
import { type Journal, JournalUnavailableError } from './journal.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import { createLostCallSettler } from './settle-lost-call.ts';

const directory = '/journal';
const priceBook = createPriceBook({ book: { version: 'test', currency: 'USD', entries: [] } });

const started: Journal[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((journal) => journal.close()));
});

async function start(disk = new MemoryJournalDisk(), limits: { readonly entriesInMemoryMax?: number } = {}) {
  const rows = new Map<string, CallEntry>();
  const { journal, recovered } = await createJournal({
    directory,
    disk,
    store: {
      appendEncoded: (entries) => {
        for (const row of entries.map((bytes) => decodeForLedger(bytes))) rows.set(row.callId, row);
        return Promise.resolve(entries.length);
      },
    },
    clock: { monotonicMs: () => 0 },
    logger: silentLogger,
    settleLost: createLostCallSettler({ priceBook }),
    syncIntervalMs: 1,
    shipIntervalMs: 1,
    limits: { retryIntervalMs: 1, backoffMs: { first: 1, last: 2 }, ...limits },
  });
  started.push(journal);
  return { disk, journal, recovered, rows };
}

/** The records on the disk after a kill, as `type callId`. */
function written(disk: MemoryJournalDisk): readonly string[] {
  const names = new Map(Object.entries(recordTypes).map(([name, type]) => [type as number, name]));
  return [...disk.files.values()].flatMap(({ bytes }) =>
    scanSegment(bytes).records.map(({ type, value }) => `${names.get(type)} ${(value as CallEntry).callId}`),
  );
}

const turnEnds = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Counts the writes from now on, and makes them fail while `refuses`. */
function watchWrites(disk: MemoryJournalDisk) {
  const watched = { count: 0, refuses: false };
  disk.fault = (operation) => {
    if (operation === 'write') watched.count += 1;
    if (watched.refuses && (operation === 'write' || operation === 'create')) throw new Error('ENOSPC');
  };
  return watched;
}

test('the records of a turn are written in one write, and no callback is called before it', async () => {
  const { disk, journal } = await start();
  const writes = watchWrites(disk);
  const notifications: string[] = [];
  for (const id of ['a', 'b', 'c']) {
    journal.open(opening(id), (refusal) => {
      assert.equal(refusal, undefined);
      notifications.push(`${id} after ${written(disk).length}`);
    });
  }
  assert.deepEqual([notifications, written(disk), writes.count], [[], [], 0]);
  await turnEnds();
  assert.deepEqual(notifications, ['a after 3', 'b after 3', 'c after 3']);
  assert.equal(writes.count, 1);
  for (const id of ['a', 'b']) journal.done(entry(id), () => notifications.push(`${id} done after ${written(disk).length}`));
  assert.equal(notifications.length, 3);
  await turnEnds();
  assert.deepEqual(notifications.slice(3), ['a done after 5', 'b done after 5']);
  assert.equal(writes.count, 2);
});

test('an appended record is written together with the staged ones before it, in order', async () => {
  const { disk, journal } = await start();
  const notifications: string[] = [];
  journal.open(opening('a'));
  journal.done(entry('a'), () => notifications.push('a'));
  journal.open(opening('b'));
  assert.deepEqual(written(disk), ['open a', 'done a', 'open b']);
  assert.deepEqual(notifications, [], 'staged callbacks are still called at the end of the turn');
  await turnEnds();
  assert.deepEqual(notifications, ['a']);
});

test('after a kill before the end of the turn no callback was called, and nothing is written', async () => {
  const { disk, journal } = await start();
  let notified = false;
  journal.open(opening('a'), () => (notified = true));
  const { recovered } = await start(disk.afterCrash('kill'));
  assert.deepEqual([recovered.records, recovered.lostUnanswered], [0, 0]);
  await turnEnds();
  assert.ok(notified);
  const { recovered: later } = await start(disk.afterCrash('kill'));
  assert.equal(later.lostUnanswered, 1);
});

test('a full disk refuses every opening of the turn, and every entry is kept and shipped', async () => {
  const { disk, journal, rows } = await start();
  journal.open(opening('old'));
  const writes = watchWrites(disk);
  writes.refuses = true;
  const refused: string[] = [];
  let done = 0;
  for (const id of ['a', 'b']) {
    journal.open(opening(id), (refusal) => {
      assert.ok(refusal instanceof JournalUnavailableError);
      refused.push(id);
    });
  }
  journal.done(entry('old'), () => (done += 1));
  await turnEnds();
  assert.deepEqual([refused, done], [['a', 'b'], 1]);
  assert.throws(() => journal.open(opening('c'), () => assert.fail('it was refused already')), JournalUnavailableError);
  journal.done(entry('late'), () => (done += 1));
  assert.equal(done, 2, 'an entry that is refused at once does not delay its reply');
  await journal.drain(AbortSignal.timeout(30_000));
  assert.deepEqual([...rows.keys()].toSorted(), ['late', 'old']);
  writes.refuses = false;
  while (journal.unavailableReason() !== undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  journal.open(opening('new'));
  assert.deepEqual(
    written(disk).filter((record) => / [ab]$/.test(record)),
    [],
    'nothing of the refused calls remains',
  );
  assert.ok(written(disk).includes('open new'));
});

test('with a full disk and full memory, an entry stays in memory if its record was never written', async () => {
  const { disk, journal, rows } = await start(new MemoryJournalDisk(), { entriesInMemoryMax: 0 });
  journal.open(opening('a'));
  const writes = watchWrites(disk);
  writes.refuses = true;
  journal.done(entry('a'), () => {});
  await turnEnds();
  await journal.drain(AbortSignal.timeout(30_000));
  assert.deepEqual([...rows.keys()], ['a']);
});

test('after a failed write the records of the turn are written to a new segment, and none is refused', async () => {
  const { disk, journal } = await start();
  let failures = 1;
  disk.fault = (operation) => {
    if (operation === 'write' && failures-- > 0) throw new Error('EIO');
  };
  const notifications: unknown[] = [];
  for (const id of ['a', 'b']) journal.open(opening(id), (refusal) => notifications.push(refusal));
  await turnEnds();
  assert.deepEqual(notifications, [undefined, undefined]);
  assert.deepEqual(written(disk), ['open a', 'open b']);
});

test('closing writes staged records and calls their callbacks', async () => {
  const { disk, journal } = await start();
  const notifications: unknown[] = [];
  journal.open(opening('a'), (refusal) => notifications.push(refusal));
  await journal.close();
  await turnEnds();
  assert.deepEqual(notifications, [undefined]);
  assert.deepEqual(written(disk), ['open a']);
});
