import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import type { CallEntry } from '../ledger/call-entry.ts';
import { encodeEntry, encodeOpening } from '../ledger/entry-json.ts';
import { decodeForLedger } from '../ledger/ledger-form.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { entry, opening } from './testing/call-kit.ts';
import { createJournal, type JournalOptions } from './create-journal.ts';
import { recordPayloadBytesMax, recordTypes, scanSegment } from './journal-record.ts';
import type { Journal, JournalView } from './journal.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import { createLostCallSettler } from './settle-lost-call.ts';

const directory = '/journal';
const priceBook = createPriceBook({ book: { version: 'test', currency: 'USD', entries: [] } });

const started: Journal[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((journal) => journal.close()));
});

type Setup = Partial<JournalOptions> & { readonly disk?: MemoryJournalDisk };

/** A journal whose store accepts the calls of `takes`, and its log as `level message: error`. */
async function start({ limits, disk = new MemoryJournalDisk(), ...rest }: Setup = {}) {
  const rows = new Map<string, CallEntry>();
  const store = { takes: (_callId: string): boolean => true };
  const lines: string[] = [];
  const note =
    (level: string) =>
    (fields: unknown, message?: string): void => {
      const { err, callId } = fields as { readonly err?: Error; readonly callId?: string };
      lines.push([`${level} ${message}`, callId, err?.message].filter((part) => part !== undefined).join(' | '));
    };
  const { journal, recovered } = await createJournal({
    directory,
    store: {
      appendEncoded: (batch) => {
        const entries = batch.map((bytes) => decodeForLedger(bytes));
        if (!entries.every(({ callId }) => store.takes(callId))) return Promise.reject(new Error('down'));
        for (const row of entries) rows.set(row.callId, row);
        return Promise.resolve(entries.length);
      },
    },
    clock: { monotonicMs: () => 0 },
    logger: { warn: note('warn'), error: note('error') },
    settleLost: createLostCallSettler({ priceBook }),
    syncIntervalMs: 1,
    shipIntervalMs: 1,
    ...rest,
    disk,
    limits: { retryIntervalMs: 1, backoffMs: { first: 1, last: 2 }, ...limits },
  });
  started.push(journal);
  return { disk, journal, recovered, rows, store, lines };
}

const names = new Map(Object.entries(recordTypes).map(([name, type]) => [type as number, name]));

/** The records on the disk after a kill, as `type callId`. */
function written(disk: MemoryJournalDisk): readonly string[] {
  return [...disk.files.values()].flatMap(({ bytes }) =>
    scanSegment(bytes).records.map(({ type, value }) => `${names.get(type)} ${(value as CallEntry).callId}`),
  );
}

const pathOf = (segment: number): string => `${directory}/segment-000000000${segment}.v1`;
const idsOf = (journal: JournalView, callId: string): readonly string[] => journal.pendingRows(callId).map((row) => row.callId);
const soon = (): AbortSignal => AbortSignal.timeout(30_000);

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Makes writes fail until the returned function is called. */
function fill(disk: MemoryJournalDisk, journal: Journal): () => Promise<void> {
  disk.fault = (operation) => {
    if (operation === 'write' || operation === 'create') throw new Error('ENOSPC');
  };
  return async () => {
    disk.fault = undefined;
    await until(() => journal.unavailableReason() === undefined);
  };
}

function runCall(journal: Journal, callId: string): void {
  journal.open(opening(callId));
  journal.done(entry(callId));
}

/** An entry whose record has exactly this many bytes, in letters of this size. */
function entryOfBytes(callId: string, bytes: number, letter: string): CallEntry {
  const withText = (text: string): CallEntry => ({ ...entry(callId), rawUsage: { text } });
  const rest = bytes - Buffer.byteLength(encodeEntry(withText(''), encodeOpening(opening(callId))));
  const letterBytes = Buffer.byteLength(letter);
  return withText(letter.repeat(Math.floor(rest / letterBytes)) + 'x'.repeat(rest % letterBytes));
}

for (const letter of ['x', 'ü', '世']) {
  for (const [over, isKept] of [
    [0, true],
    [1, false],
  ] as const) {
    test(`a vendor's usage in "${letter}" that is ${over} bytes over the limit is ${isKept ? 'kept' : 'left out'}`, async () => {
      const { disk, journal, rows, lines } = await start();
      journal.open(opening('a'));
      const large = entryOfBytes('a', recordPayloadBytesMax + over, letter);
      journal.done(large);
      assert.deepEqual(written(disk), ['open a', 'done a']);
      await journal.drain(soon());
      assert.deepEqual(rows.get('a')?.rawUsage, isKept ? large.rawUsage : undefined);
      assert.deepEqual(lines, []);
    });
  }
}

test('an entry that cannot be encoded is logged, and written without the raw usage of the vendor', async () => {
  const { disk, journal, lines } = await start();
  journal.done({ ...entry('a'), rawUsage: { count: 1n } });
  assert.deepEqual(written(disk), ['done a']);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^error journal entry encoding failed \| a \| .*BigInt/);
});

test('an entry too long for a record is shipped from memory, never written, and does not disturb a move', async () => {
  const { disk, journal, rows, store, lines } = await start();
  store.takes = () => false;
  const requestedModel = 'x'.repeat(recordPayloadBytesMax);
  journal.done({ ...entry('long'), requestedModel });
  assert.deepEqual(lines.splice(0), ['error journal entry too long for a record | long']);
  const heal = fill(disk, journal);
  journal.done(entry('refused'));
  await heal();
  assert.deepEqual(written(disk), ['done refused']);
  assert.ok([...disk.files.values()].every(({ bytes }) => bytes.length < recordPayloadBytesMax));
  store.takes = () => true;
  await journal.drain(soon());
  assert.equal(rows.get('long')?.requestedModel, requestedModel);
  assert.equal(lines.filter((line) => line.includes('journal record encoding failed')).length, 0, 'a refusal is not an encoding failure');
});

test('refused records are written once when the disk recovers, and no other record is repeated', async () => {
  const { disk, journal, store } = await start();
  store.takes = () => false;
  runCall(journal, 'before');
  journal.open(opening('unanswered'));
  journal.open(opening('answered'));
  const file = disk.files.get(pathOf(1));
  await until(() => file !== undefined && file.syncedBytes === file.bytes.length);
  const heal = fill(disk, journal);
  journal.head('answered', { status: 200 });
  journal.done(entry('refused'));
  await heal();
  assert.deepEqual(written(disk).toSorted(), [
    'done before',
    'done refused',
    'head answered',
    'open answered',
    'open before',
    'open unanswered',
  ]);
  const { recovered } = await start({ disk: disk.afterCrash('kill') });
  assert.deepEqual([recovered.done, recovered.lostAnswered, recovered.lostUnanswered], [2, 1, 1]);
});

for (const segmentBytesMax of [1, 1_000_000]) {
  test(`moved records are read from their new position, the others from the old one (segments of ${segmentBytesMax} bytes)`, async () => {
    const { disk, journal, store } = await start({ segmentBytesMax, limits: { entriesInMemoryMax: 0 } });
    store.takes = () => false;
    runCall(journal, 'synced');
    await until(() => [...disk.files.values()].every(({ bytes, syncedBytes }) => bytes.length === syncedBytes));
    journal.done(entry('first to move'));
    runCall(journal, 'moved');
    let hasFailed = false;
    disk.fault = (operation) => {
      if (operation !== 'write' || hasFailed) return;
      hasFailed = true;
      throw new Error('EIO');
    };
    runCall(journal, 'after');
    assert.ok(hasFailed);
    for (const callId of ['synced', 'first to move', 'moved', 'after']) assert.deepEqual(idsOf(journal, callId), [callId]);
  });
}

test('an entry that was staged and written is read from the journal', async () => {
  const { disk, journal, store } = await start({ limits: { entriesInMemoryMax: 0 } });
  store.takes = () => false;
  const { promise, resolve } = Promise.withResolvers<void>();
  journal.done(entry('a'), resolve);
  await promise;
  let reads = 0;
  disk.fault = (operation) => void (operation === 'readAt' && (reads += 1));
  assert.deepEqual(idsOf(journal, 'a'), ['a']);
  assert.equal(reads, 1);
});

test('an opening that is refused at the end of its turn is removed and keeps no segment', async () => {
  const { disk, journal } = await start();
  const heal = fill(disk, journal);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  journal.open(opening('a'), resolve);
  assert.ok(journal.findOpen('a'));
  assert.ok((await promise) instanceof Error);
  assert.equal(journal.findOpen('a'), undefined);
  await heal();
  runCall(journal, 'b');
  await journal.drain(soon());
  assert.deepEqual([...disk.files.keys()], [pathOf(2)]);
});

test('a call with several attempts keeps only its first segment', async () => {
  const { disk, journal } = await start({ segmentBytesMax: 1 });
  const failed = { upstream: 'other', credential: 'other', upstreamModel: 'm', errorCode: 'upstream_error', durationMs: 3 };
  journal.open(opening('a'));
  journal.open({ ...opening('a'), failedAttempts: [failed] });
  journal.done(entry('a'));
  await journal.drain(soon());
  assert.deepEqual([...disk.files.keys()], [pathOf(3)]);
});

test('an entry without an opening stays in the journal until the store has it', async () => {
  const { disk, journal, rows, store } = await start({ segmentBytesMax: 1 });
  store.takes = (callId) => callId !== 'alone';
  journal.done(entry('alone'));
  runCall(journal, 'other');
  await until(() => rows.has('other'));
  assert.equal(journal.pendingEntries(), 1);
  const { recovered } = await start({ disk: disk.afterCrash('kill') });
  assert.ok(recovered.done >= 1);
  assert.ok(written(disk).includes('done alone'));
  store.takes = () => true;
  await journal.drain(soon());
  assert.equal(journal.pendingEntries(), 0);
});

test('a HEAD is written before the progress that follows it within its tick', async () => {
  const { disk, journal } = await start();
  journal.open(opening('a'));
  journal.head('a', { status: 200 });
  journal.progress('a', { outputCharacters: 3 });
  assert.deepEqual(written(disk), ['open a', 'head a', 'progress a']);
  await Promise.resolve();
  journal.progress('a', { outputCharacters: 4 });
  assert.deepEqual(written(disk).slice(3), ['progress a']);
});

for (const [code, expected] of [
  ['ENOENT', []],
  ['EACCES', ['warn journal segment deletion failed | EACCES']],
] as const) {
  test(`a shipped segment whose removal fails with ${code} is ${expected.length === 0 ? 'gone already' : 'left to the next start'}`, async () => {
    const { disk, journal, lines } = await start({ segmentBytesMax: 1 });
    disk.fault = (operation) => {
      if (operation === 'remove') throw Object.assign(new Error(code), { code });
    };
    journal.done(entry('a'));
    journal.done(entry('b'));
    await journal.drain(soon());
    assert.deepEqual(lines, expected);
  });
}

test('an entry that cannot be read back is logged with its position', async () => {
  const { disk, journal, store, lines } = await start({ limits: { entriesInMemoryMax: 0 } });
  store.takes = () => false;
  journal.done(entry('a'));
  disk.files.get(pathOf(1))?.bytes.fill(0);
  await journal.drain(soon());
  assert.deepEqual(lines, [
    'error journal entry could not be read back | a | There is no complete DONE record at 0 of segment-0000000001.v1.',
  ]);
});

test('closing refuses new calls at once, and logs a disk that did not finish and a call that ended too late', async () => {
  const { disk, journal, lines } = await start({ limits: { closeTimeoutMs: 5 } });
  disk.fault = (operation) => (operation === 'sync' ? new Promise<void>(() => {}) : undefined);
  runCall(journal, 'a');
  assert.deepEqual(lines, []);
  const closed = journal.close();
  assert.equal(journal.unavailableReason(), 'the journal is closed');
  await closed;
  assert.deepEqual(lines.splice(0), ['error journal close failed | the disk did not finish within the time limit']);
  journal.done(entry('late'));
  assert.deepEqual(lines, ['error call ended after the journal was closed | late']);
});

test('a start that fails gives the reason and its cause', async () => {
  const disk = new MemoryJournalDisk();
  const cause = new Error('EROFS');
  disk.fault = (operation) => {
    if (operation === 'prepare') throw cause;
  };
  await assert.rejects(start({ disk }), { message: 'The journal directory /journal cannot be used: EROFS', cause });
});
