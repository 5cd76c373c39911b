import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { silentLogger } from '../../platform/log.ts';
import { decodeForLedger } from '../ledger/ledger-form.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { recomputeAmount } from '../rating/recompute-amount.ts';
import { type JournalOptions, createJournal } from './create-journal.ts';
import { scanSegment } from './journal-record.ts';
import { type Journal, JournalUnavailableError } from './journal.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import { createLostCallSettler } from './settle-lost-call.ts';

const directory = '/journal';

const priceBook = createPriceBook({
  book: {
    version: 'test',
    currency: 'USD',
    entries: [
      {
        vendor: 'acme',
        model: 'm-1',
        displayName: 'M 1',
        effectiveFrom: '2026-01-01',
        tiers: [{ inputAbove: 0, prices: { input: '2', output: '10' } }],
        source: 'test',
        checked: '2026-01-01',
      },
    ],
  },
});

function opening(callId: string): CallOpening {
  return {
    callId,
    acceptedAtMs: Date.UTC(2026, 10, 20),
    userName: 'alice',
    keyId: 'key_1',
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'm-1',
    upstream: 'acme-main',
    vendor: 'acme',
    upstreamModel: 'm-1',
    stream: true,
    inputCharacters: 400,
    priceVersion: priceBook.version,
  };
}

function finished(callId: string, outputTokens = 20): CallEntry {
  const usage = { inputTokens: 100, outputTokens };
  const charge = priceBook.rate({ ...opening(callId), usage });
  return { ...opening(callId), end: 'finished', upstreamStatus: 200, usage, estimated: false, durationMs: 1200, charge };
}

/** An in-memory ledger. Like the real one, it ignores a call that it already has. */
class MemoryLedger {
  readonly rows = new Map<string, CallEntry>();
  calls = 0;
  refuse: ((entries: readonly CallEntry[]) => boolean) | undefined;

  appendEncoded = (entries: readonly Uint8Array[]): Promise<number> => this.appendEntries(entries.map((entry) => decodeForLedger(entry)));

  async appendEntries(entries: readonly CallEntry[]): Promise<number> {
    this.calls += 1;
    if (this.refuse?.(entries) === true) throw new Error('the store is down');
    const fresh = entries.filter(({ callId }) => !this.rows.has(callId));
    for (const entry of fresh) this.rows.set(entry.callId, entry);
    return fresh.length;
  }
}

/** A clock that the test advances; the journal does not even get a wall clock. */
function manualClock(): { monotonicMs: () => number; advance: (ms: number) => void } {
  let nowMs = 1000;
  return {
    monotonicMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

type Setup = { disk?: MemoryJournalDisk; store?: MemoryLedger; clock?: { monotonicMs: () => number } } & Partial<JournalOptions>;

/** Journals of the running test, so that a failed test leaves no timers. */
const started: Journal[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((journal) => journal.close()));
});

async function start(setup: Setup = {}) {
  const disk = setup.disk ?? new MemoryJournalDisk();
  const store = setup.store ?? new MemoryLedger();
  const { limits, ...rest } = setup;
  const { journal, recovered } = await createJournal({
    directory,
    clock: manualClock(),
    logger: silentLogger,
    settleLost: createLostCallSettler({ priceBook }),
    syncIntervalMs: 1,
    shipIntervalMs: 1,
    ...rest,
    disk,
    store,
    limits: { retryIntervalMs: 1, backoffMs: { first: 1, last: 2 }, ...limits },
  });
  started.push(journal);
  return { disk, store, journal, recovered };
}

const soon = (): AbortSignal => AbortSignal.timeout(30_000);

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function runCall(journal: Journal, callId: string): void {
  journal.open(opening(callId));
  journal.head(callId, { status: 200 });
  journal.done(finished(callId));
}

/** A store that accepts nothing, so that all entries stay in the journal. */
function downLedger(): MemoryLedger {
  const store = new MemoryLedger();
  store.refuse = () => true;
  return store;
}

const segments = (disk: MemoryJournalDisk): string[] => disk.list(directory).toSorted();

function denied(code: string): never {
  throw Object.assign(new Error(`${code}: the disk failed`), { code });
}

describe('shipping', () => {
  test('a finished call reaches the store with its amount, and its segment is deleted when it is complete', async () => {
    const { disk, store, journal } = await start({ segmentBytesMax: 1000 });
    for (let index = 0; index < 10; index += 1) runCall(journal, `call_${index}`);
    assert.ok(segments(disk).length > 1, 'segments rotate');
    await journal.drain(soon());
    assert.equal(store.rows.size, 10);
    assert.equal(store.rows.get('call_3')?.charge.amountNanoUsd, 400_000n);
    assert.equal(segments(disk).length, 1, 'only the current segment remains');
    await journal.close();
    assert.equal(disk.openHandles, 0);
  });

  test('while the store is down all entries wait, few of them in memory, and each arrives once afterwards', async () => {
    const store = new MemoryLedger();
    store.refuse = () => true;
    const { disk, journal } = await start({ store, segmentBytesMax: 4000, limits: { entriesInMemoryMax: 3, batchEntriesMax: 4 } });
    for (let index = 0; index < 50; index += 1) runCall(journal, `call_${index}`);
    await until(() => store.calls > 3);
    assert.equal(store.rows.size, 0);
    const before = segments(disk).length;
    store.refuse = undefined;
    await journal.drain(soon());
    assert.equal(store.rows.size, 50);
    assert.deepEqual(store.rows.get('call_49'), finished('call_49'), 'an entry read back from a segment is the entry');
    assert.ok(before > 5 && segments(disk).length === 1);
    await journal.close();
  });

  test('a call that the store never accepts does not block the others', async () => {
    const store = new MemoryLedger();
    store.refuse = (entries) => entries.some(({ callId }) => callId === 'bad');
    const { journal } = await start({ store });
    runCall(journal, 'bad');
    for (let index = 0; index < 20; index += 1) runCall(journal, `call_${index}`);
    await until(() => store.rows.size === 20);
    await assert.rejects(journal.drain(AbortSignal.abort(new Error('enough'))), /enough/);
    await journal.close();
  });

  test('a call to the store that hangs times out and is repeated', async () => {
    const store = new MemoryLedger();
    const answer = store.appendEncoded.bind(store);
    let calls = 0;
    store.appendEncoded = (entries) => {
      calls += 1;
      return calls === 1 ? new Promise(() => {}) : answer(entries);
    };
    const { journal } = await start({ store, limits: { storeTimeoutMs: 5 } });
    runCall(journal, 'a');
    await journal.drain(soon());
    assert.equal(store.rows.size, 1);
    await journal.close();
  });

  test('drain waits for present entries, not for later ones', async () => {
    const store = new MemoryLedger();
    store.refuse = (entries) => entries.some(({ callId }) => callId === 'later');
    const { journal } = await start({ store });
    runCall(journal, 'now');
    const drained = journal.drain(soon());
    runCall(journal, 'later');
    await drained;
    assert.ok(store.rows.has('now'));
    await journal.close();
  });

  test('too many entries waiting for the store refuse new calls, by name', async () => {
    const { journal } = await start({ store: downLedger(), limits: { entriesPendingMax: 3 } });
    for (const callId of ['a', 'b', 'c']) runCall(journal, callId);
    assert.match(journal.unavailableReason() ?? '', /3 entries wait for the ledger store/);
    assert.throws(() => journal.open(opening('d')), JournalUnavailableError);
    await journal.close();
  });

  test('an entry whose raw usage cannot be encoded is shipped without it', async () => {
    const { store, journal } = await start();
    journal.open(opening('a'));
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    journal.done({ ...finished('a'), rawUsage: circular });
    journal.done({ ...finished('b'), rawUsage: { text: 'x'.repeat(3_000_000) } });
    await journal.drain(soon());
    assert.deepEqual([...store.rows.keys()], ['a', 'b']);
    assert.equal(store.rows.get('a')?.rawUsage, undefined);
    assert.equal(store.rows.get('b')?.rawUsage, undefined);
    await journal.close();
  });

  test('a segment stays while a call that began in it is open, however many later ones are shipped', async () => {
    const { disk, store, journal } = await start({ segmentBytesMax: 1000 });
    journal.open(opening('long'));
    for (let index = 0; index < 10; index += 1) runCall(journal, `call_${index}`);
    await journal.drain(soon());
    const recovered = await start({ disk: disk.afterCrash('kill') });
    assert.equal(recovered.recovered.lostUnanswered, 1);
    assert.equal(recovered.recovered.done, 10, 'no finished call is settled as lost');
    await recovered.journal.close();
    journal.done(finished('long'));
    await journal.drain(soon());
    assert.equal(store.rows.size, 11);
    assert.equal(segments(disk).length, 1);
    await journal.close();
  });
});

describe('lost calls', () => {
  async function crash(run: (journal: Journal, advance: (ms: number) => void) => void) {
    const clock = manualClock();
    const { disk, journal } = await start({ store: downLedger(), clock });
    run(journal, clock.advance);
    // A HEAD is passed to the operating system at the end of its tick.
    await Promise.resolve();
    const again = await start({ disk: disk.afterCrash('kill') });
    await again.journal.drain(soon());
    await again.journal.close();
    await journal.close();
    return { rows: again.store.rows, recovered: again.recovered };
  }

  test('a lost call whose upstream sent no status costs nothing', async () => {
    const { rows, recovered } = await crash((journal) => journal.open(opening('a')));
    assert.equal(recovered.lostUnanswered, 1);
    const entry = rows.get('a');
    assert.equal(entry?.end, 'lost');
    assert.deepEqual(entry?.usage, {});
    assert.equal(entry?.charge.amountNanoUsd, 0n);
    assert.equal(entry?.estimated, false);
  });

  test('answered-with-an-error: failed, free', async () => {
    const { rows, recovered } = await crash((journal) => {
      journal.open(opening('a'));
      journal.head('a', { status: 529, upstreamRequestId: 'req_9' });
    });
    assert.equal(recovered.lostFailed, 1);
    assert.equal(rows.get('a')?.end, 'failed');
    assert.equal(rows.get('a')?.upstreamStatus, 529);
    assert.equal(rows.get('a')?.upstreamRequestId, 'req_9');
    assert.equal(rows.get('a')?.charge.amountNanoUsd, 0n);
  });

  test('a lost call that was answered is charged by its last progress of each field, and marked as estimated', async () => {
    const { rows } = await crash((journal, advance) => {
      journal.open(opening('a'));
      advance(120);
      journal.head('a', { status: 200 });
      journal.progress('a', { usage: { inputTokens: 90 }, outputCharacters: 40 });
      advance(300);
      journal.progress('a', { usage: { outputTokens: 7 }, outputCharacters: 80 });
    });
    const entry = rows.get('a');
    assert.equal(entry?.end, 'lost');
    assert.equal(entry?.estimated, true);
    assert.deepEqual(entry?.usage, { inputTokens: 90, outputTokens: 20 });
    assert.equal(entry?.durationMs, 420);
    assert.equal(entry?.charge.amountNanoUsd, 90n * 2000n + 20n * 10_000n);
    assert.equal(recomputeAmount(entry?.charge.lines ?? []), entry?.charge.amountNanoUsd);
  });

  test('the input of a lost call without progress is estimated', async () => {
    const { rows } = await crash((journal) => {
      journal.open(opening('a'));
      journal.head('a', { status: 200 });
    });
    assert.deepEqual(rows.get('a')?.usage, { inputTokens: 100, outputTokens: 0 });
    assert.equal(rows.get('a')?.estimated, true);
  });

  const failed = { upstream: 'other', credential: 'other', upstreamModel: 'm', errorCode: 'upstream_error', durationMs: 3 };

  test('a call that is lost in its second attempt is not charged for the first', async () => {
    const { rows, recovered } = await crash((journal) => {
      journal.open(opening('a'));
      journal.head('a', { status: 200 });
      journal.progress('a', { usage: { inputTokens: 90, outputTokens: 9 }, outputCharacters: 400 });
      journal.open({ ...opening('a'), upstream: 'acme-2', failedAttempts: [failed] });
    });
    assert.equal(recovered.lostUnanswered, 1);
    assert.equal(rows.get('a')?.upstream, 'acme-2');
    assert.deepEqual(rows.get('a')?.failedAttempts, [failed]);
    assert.equal(rows.get('a')?.charge.amountNanoUsd, 0n);
  });

  test('a second attempt is charged by its own report', async () => {
    const { rows } = await crash((journal) => {
      journal.open(opening('a'));
      journal.head('a', { status: 503 });
      journal.open({ ...opening('a'), upstream: 'acme-2', failedAttempts: [failed] });
      journal.head('a', { status: 200 });
      journal.progress('a', { usage: { inputTokens: 10, outputTokens: 2 }, outputCharacters: 8 });
    });
    assert.equal(rows.get('a')?.upstreamStatus, 200);
    assert.deepEqual(rows.get('a')?.usage, { inputTokens: 10, outputTokens: 2 });
  });

  test('an attempt whose opening is refused does not change the one before it', async () => {
    const { disk, journal, store } = await start();
    journal.open(opening('a'));
    journal.head('a', { status: 503 });
    await Promise.resolve();
    let full = true;
    disk.fault = (operation) => {
      if (full && (operation === 'write' || operation === 'create')) denied('ENOSPC');
      return undefined;
    };
    const { promise, resolve } = Promise.withResolvers<unknown>();
    journal.open({ ...opening('a'), upstream: 'acme-2', failedAttempts: [failed] }, resolve);
    assert.ok((await promise) instanceof JournalUnavailableError);
    full = false;
    journal.done({ ...opening('a'), end: 'failed', usage: {}, estimated: false, durationMs: 5, charge: { amountNanoUsd: 0n, lines: [] } });
    await journal.drain(soon());
    assert.equal(store.rows.get('a')?.upstream, 'acme-main');
    await journal.close();
  });

  test('a clock that jumps back gives no negative duration, and the order of records decides', async () => {
    const { rows } = await crash((journal, advance) => {
      journal.open(opening('a'));
      advance(-3_600_000);
      journal.head('a', { status: 200 });
      journal.progress('a', { outputCharacters: 8 });
      journal.open(opening('b'));
      journal.done(finished('b'));
    });
    assert.equal(rows.get('a')?.durationMs, 0);
    assert.equal(rows.get('b')?.end, 'finished');
  });

  test('a call that cannot be settled is booked with 0 and does not fail the start', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    journal.open(opening('a'));
    runCall(journal, 'b');
    const again = await start({
      disk: disk.afterCrash('kill'),
      settleLost: () => {
        throw new Error('no price book');
      },
    });
    await again.journal.drain(soon());
    assert.equal(again.recovered.unsettled, 1);
    assert.equal(again.store.rows.get('a')?.errorCode, 'internal_error');
    assert.equal(again.store.rows.size, 2);
    await Promise.all([journal.close(), again.journal.close()]);
  });

  test('late records of a finished call are not written', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    runCall(journal, 'a');
    const bytes = disk.files.get(`${directory}/segment-0000000001.v1`)?.bytes.length;
    journal.head('a', { status: 200 });
    journal.progress('a', { outputCharacters: 1 });
    assert.equal(disk.files.get(`${directory}/segment-0000000001.v1`)?.bytes.length, bytes);
    await journal.close();
  });
});

describe('damage', () => {
  const segment = (number: number): string => `${directory}/segment-000000000${number}.v1`;

  async function recorded(callIds: readonly string[], segmentBytesMax = 1_000_000): Promise<MemoryJournalDisk> {
    const { disk, journal } = await start({ store: downLedger(), segmentBytesMax });
    for (const callId of callIds) {
      journal.open(opening(callId));
      journal.head(callId, { status: 200 });
      // A reply that takes longer than a tick has a HEAD of its own.
      await Promise.resolve();
      journal.done(finished(callId));
    }
    const left = disk.afterCrash('kill');
    await journal.close();
    return left;
  }

  test('a reply in one piece needs one record less, and is settled once after a kill at any byte', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    runCall(journal, 'a');
    await Promise.resolve();
    const whole = disk.afterCrash('kill');
    await journal.close();
    assert.equal(scanSegment(whole.files.get(segment(1))?.bytes ?? Buffer.alloc(0)).records.length, 2);
    const again = await start({ disk: whole });
    assert.equal(again.recovered.done, 1);
    await again.journal.close();
  });

  test('a torn end of the last segment is cut off and reported', async () => {
    const disk = await recorded(['a', 'b']);
    const file = disk.files.get(segment(1));
    assert.ok(file);
    file.bytes = file.bytes.subarray(0, file.bytes.length - 5);
    const again = await start({ disk });
    await again.journal.drain(soon());
    assert.ok(again.recovered.tornBytes > 5);
    assert.deepEqual(again.recovered.quarantined, []);
    assert.deepEqual([...again.store.rows].map(([id, { end }]) => `${id} ${end}`).toSorted(), ['a finished', 'b lost']);
    await again.journal.close();
  });

  test('zeros at the end of the last segment, as after a power loss, count as a torn end', async () => {
    const disk = await recorded(['a']);
    const file = disk.files.get(segment(1));
    assert.ok(file);
    file.bytes = Buffer.concat([file.bytes, Buffer.alloc(4096)]);
    // As if it had not been created with its full length.
    delete file.created;
    const again = await start({ disk });
    assert.equal(again.recovered.tornBytes, 4096);
    assert.equal(again.recovered.done, 1);
    await again.journal.close();
  });

  test('zeros that a killed process did not use are neither torn nor damage, in any of its segments', async () => {
    const disk = await recorded(['a', 'b', 'c'], 1);
    const lengths = [...disk.files.keys()].map((path) => disk.read(path).length);
    assert.ok(lengths.length > 3 && lengths.every((length) => length === 64 * 1024), String(lengths));
    const again = await start({ disk });
    assert.deepEqual([again.recovered.tornBytes, again.recovered.quarantined, again.recovered.done], [0, [], 3]);
    await again.journal.close();
  });

  test('a segment with a changed bit is set aside, everything readable is used, and the next start is clean', async () => {
    const disk = await recorded(['a', 'b', 'c']);
    const file = disk.files.get(segment(1));
    assert.ok(file);
    // A byte in the DONE record of `a`; its OPEN and HEAD and all of `b` and `c` stay readable.
    const at = file.bytes.indexOf('"finished"');
    file.bytes[at + 2] = (file.bytes[at + 2] ?? 0) ^ 1;
    const again = await start({ disk, store: downLedger() });
    assert.deepEqual(again.recovered.quarantined, ['segment-0000000001.v1.corrupt']);
    assert.equal(again.recovered.done, 2);
    assert.equal(again.recovered.lostAnswered, 1);
    assert.ok(disk.files.has(`${segment(1)}.corrupt`));
    await again.journal.close();

    const third = await start({ disk: disk.afterCrash('power-loss') });
    await third.journal.drain(soon());
    assert.deepEqual(third.recovered.quarantined, []);
    assert.equal(third.recovered.done, 3);
    assert.deepEqual([...third.store.rows.keys()].toSorted(), ['a', 'b', 'c']);
    await third.journal.close();
  });

  test('a torn end of an earlier segment is damage', async () => {
    const disk = await recorded(['a', 'b', 'c', 'd', 'e', 'f'], 1000);
    const file = disk.files.get(segment(1));
    assert.ok(file);
    file.bytes = file.bytes.subarray(0, file.bytes.length - 3);
    const again = await start({ disk });
    assert.equal(again.recovered.quarantined.length, 1);
    await again.journal.drain(soon());
    assert.equal(again.store.rows.size, 6);
    await again.journal.close();
  });

  test('a start that dies before it renames a damaged segment loses nothing', async () => {
    const disk = await recorded(['a', 'b', 'c']);
    const file = disk.files.get(segment(1));
    assert.ok(file);
    file.bytes[file.bytes.indexOf('"finished"') + 2] = 0;
    disk.rename = () => denied('EIO');
    await assert.rejects(start({ disk }), /\/journal cannot be used: EIO/);
    const again = await start({ disk: disk.afterCrash('power-loss') });
    await again.journal.drain(soon());
    assert.equal(again.store.rows.size, 3);
    await again.journal.close();
  });

  test('an entry that cannot be read back is logged, and its segment is kept for the operator', async () => {
    const store = new MemoryLedger();
    store.refuse = () => true;
    const { disk, journal } = await start({ store, segmentBytesMax: 1000, limits: { entriesInMemoryMax: 0 } });
    for (const callId of ['a', 'b', 'c', 'd']) runCall(journal, callId);
    const file = disk.files.get(segment(1));
    assert.ok(file);
    file.bytes[file.bytes.indexOf('"finished"') + 2] = 0;
    store.refuse = undefined;
    await journal.drain(soon());
    assert.equal(store.rows.size, 3);
    assert.ok(segments(disk).includes('segment-0000000001.v1.corrupt'));
    await journal.close();
  });

  test('a segment of an unknown format fails the start and is named', async () => {
    const disk = new MemoryJournalDisk(new Map([[`${directory}/segment-0000000001.v2`, { bytes: Buffer.alloc(3), syncedBytes: 3 }]]));
    await assert.rejects(start({ disk }), /segment-0000000001\.v2 was written by another release/);
  });
});

describe('a failing disk', () => {
  test('after a failed write the segment is abandoned and its records are written to a new one', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    journal.open(opening('a'));
    let failed = false;
    disk.fault = (operation) => {
      if (operation !== 'write' || failed) return;
      failed = true;
      denied('EIO');
    };
    journal.head('a', { status: 200 });
    journal.done(finished('a'));
    assert.equal(journal.unavailableReason(), undefined);
    assert.ok(failed);
    const again = await start({ disk: disk.afterCrash('kill') });
    assert.equal(again.recovered.done, 1);
    await Promise.all([journal.close(), again.journal.close()]);
  });

  test('a disk that accepts a few bytes at a time gets all of them', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    disk.fault = (operation) => (operation === 'write' ? 7 : undefined);
    runCall(journal, 'a');
    const again = await start({ disk: disk.afterCrash('kill') });
    assert.equal(again.recovered.done, 1);
    assert.equal(again.recovered.tornBytes, 0);
    await Promise.all([journal.close(), again.journal.close()]);
  });

  test('after a failed sync the file is never written again, and unsynced records are in the next one, also after a power loss', async () => {
    const { disk, journal } = await start({ store: downLedger(), syncIntervalMs: 1 });
    const synced: string[] = [];
    disk.fault = (operation, path) => {
      if (operation !== 'sync') return;
      synced.push(path);
      if (synced.length === 1) denied('EIO');
    };
    runCall(journal, 'a');
    await until(() => disk.files.get(`${directory}/segment-0000000002.v1`)?.syncedBytes !== 0 && synced.length >= 2);
    assert.notEqual(synced[0], synced[1]);
    assert.equal(synced.filter((path) => path === synced[0]).length, 1);
    const again = await start({ disk: disk.afterCrash('power-loss') });
    assert.equal(again.recovered.done, 1);
    await Promise.all([journal.close(), again.journal.close()]);
  });

  test('records that moved to another segment are read back from there', async () => {
    const store = new MemoryLedger();
    store.refuse = () => true;
    const { disk, journal } = await start({ store, limits: { entriesInMemoryMax: 0 } });
    let failed = false;
    runCall(journal, 'a');
    disk.fault = (operation) => {
      if (operation !== 'write' || failed) return;
      failed = true;
      denied('EIO');
    };
    runCall(journal, 'b');
    disk.files.delete(`${directory}/segment-0000000001.v1`);
    store.refuse = undefined;
    await journal.drain(soon());
    assert.deepEqual([...store.rows.keys()], ['a', 'b']);
    await journal.close();
  });

  test('a full disk refuses new calls, settles running ones from memory, and the journal recovers by itself', async () => {
    const { disk, store, journal } = await start();
    journal.open(opening('running'));
    journal.open(opening('still-running'));
    let full = true;
    disk.fault = (operation) => {
      if (full && (operation === 'write' || operation === 'create')) denied('ENOSPC');
    };
    journal.head('running', { status: 200 });
    journal.head('still-running', { status: 200 });
    journal.progress('still-running', { outputCharacters: 4 });
    journal.done(finished('running'));
    assert.match(journal.unavailableReason() ?? '', /ENOSPC/);
    assert.throws(() => journal.open(opening('new')), JournalUnavailableError);
    await journal.drain(soon());
    assert.equal(store.rows.get('running')?.end, 'finished', 'shipped although it could not be written');
    full = false;
    await until(() => journal.unavailableReason() === undefined);
    runCall(journal, 'after');
    const again = await start({ disk: disk.afterCrash('kill') });
    await again.journal.drain(soon());
    assert.equal(again.store.rows.get('still-running')?.end, 'lost', 'its HEAD was written when the disk took records again');
    assert.deepEqual(again.store.rows.get('still-running')?.usage, { inputTokens: 100, outputTokens: 0 });
    assert.equal(again.store.rows.has('new'), false, 'a refused call leaves no trace');
    await Promise.all([journal.close(), again.journal.close()]);
  });

  test('a disk that is full for long collects no unfinished segments, and the refused entry is written afterwards', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    journal.open(opening('a'));
    let attempts = 0;
    let full = true;
    disk.fault = (operation) => {
      if (operation !== 'write' || !full) return;
      attempts += 1;
      denied('ENOSPC');
    };
    journal.done(finished('a'));
    await until(() => attempts > 5);
    assert.equal(segments(disk).length, 1);
    full = false;
    await until(() => journal.unavailableReason() === undefined);
    const again = await start({ disk: disk.afterCrash('kill') });
    await again.journal.drain(soon());
    assert.equal(again.store.rows.get('a')?.end, 'finished');
    await Promise.all([journal.close(), again.journal.close()]);
  });

  test('if a new segment cannot be synced either, the journal is unavailable until a probe succeeds', async () => {
    const { disk, journal } = await start({ store: downLedger() });
    let broken = true;
    disk.fault = (operation) => (broken && operation === 'sync' ? denied('EIO') : undefined);
    runCall(journal, 'a');
    await until(() => journal.unavailableReason() !== undefined);
    assert.match(journal.unavailableReason() ?? '', /EIO/);
    const before = segments(disk).length;
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(segments(disk).length, before, 'waiting creates no files');
    broken = false;
    await until(() => journal.unavailableReason() === undefined);
    await until(() => disk.afterCrash('power-loss').files.get(`${directory}/segment-0000000003.v1`)?.bytes.length !== 0);
    const again = await start({ disk: disk.afterCrash('power-loss') });
    assert.equal(again.recovered.done, 1);
  });

  test('a sync that hangs refuses new calls once too much waits for the disk, and close has a time limit', async () => {
    const { disk, journal } = await start({ limits: { unsyncedBytesMax: 1000, closeTimeoutMs: 5 } });
    disk.fault = (operation) => (operation === 'sync' ? new Promise<void>(() => {}) : undefined);
    for (let index = 0; index < 10 && journal.unavailableReason() === undefined; index += 1) journal.open(opening(`call_${index}`));
    assert.match(journal.unavailableReason() ?? '', /not keeping up/);
    assert.throws(() => journal.open(opening('d')), JournalUnavailableError);
    await journal.close();
  });

  test('a read-only directory fails the start and is named', async () => {
    const disk = new MemoryJournalDisk();
    disk.fault = (operation) => (operation === 'prepare' ? denied('EROFS') : undefined);
    await assert.rejects(start({ disk }), /The journal directory \/journal cannot be used: EROFS/);
    disk.fault = (operation) => (operation === 'create' ? denied('EACCES') : undefined);
    await assert.rejects(start({ disk }), /The journal directory \/journal cannot be used: EACCES/);
    disk.fault = undefined;
    const { journal } = await start({ disk });
    await journal.close();
  });

  test('a second writer in a directory is refused until the first has closed', async () => {
    const disk = new MemoryJournalDisk();
    const first = await start({ disk });
    await assert.rejects(start({ disk }), /another process is using \/journal/);
    await first.journal.close();
    assert.throws(() => first.journal.open(opening('a')), JournalUnavailableError);
    const second = await start({ disk });
    await second.journal.close();
  });
});
