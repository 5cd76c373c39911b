import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';

import { recordTypes } from './journal-record.ts';
import { JournalUnavailableError } from './journal.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import type { RecordPosition } from './segment-writer.ts';
import {
  closeWriters,
  directory,
  failing,
  holdSync,
  idAt,
  isSynced,
  json,
  pathOf,
  startWriter,
  until,
} from './testing/segment-writer-kit.ts';

const turnEnds = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

afterEach(closeWriters);

describe('a failing disk', () => {
  test('unsynced records are written to a new segment, and each move is reported', async () => {
    const { disk, writer, append, moves, lines } = startWriter();
    append('synced');
    await writer.flush();
    const first = append('a', 80_000);
    const second = append('b', 80_000);
    disk.fault = failing(['write'], 'EIO', 1);
    const third = append('c');
    const end = first.offset + first.length;
    assert.deepEqual(moves, [
      [
        { segment: 1, start: first.offset, end },
        { segment: 2, start: 0 },
      ],
      [
        { segment: 1, start: end, end: end + second.length + third.length },
        { segment: 2, start: first.length },
      ],
    ]);
    assert.equal(idAt(disk, { segment: 2, offset: first.length, length: second.length }), 'b');
    assert.deepEqual([third.segment, idAt(disk, third)], [2, 'c']);
    assert.equal(append('d').offset, first.length + second.length + third.length);
    await writer.flush();
    assert.equal(disk.openHandles, 1, 'the abandoned segment is closed');
    assert.deepEqual(lines, ['error | 1 | journal segment abandoned | EIO']);
  });

  test('a disk that accepts no bytes counts as failed', () => {
    const { disk, append, lines } = startWriter();
    let isFirst = true;
    disk.fault = (operation) => {
      if (operation !== 'write' || !isFirst) return undefined;
      isFirst = false;
      return 0;
    };
    assert.equal(append('a').segment, 2);
    assert.deepEqual(lines, ['error | 1 | journal segment abandoned | the disk accepted no bytes']);
  });

  test('a full disk refuses with the reason, is logged once, and fails a flush of earlier records too', async () => {
    const { disk, writer, append, lines } = startWriter();
    append('a');
    disk.fault = failing(['write', 'create'], 'ENOSPC');
    const isRefusal = (error: unknown): boolean => {
      assert.ok(error instanceof JournalUnavailableError);
      assert.equal(error.message, 'the journal cannot be written: ENOSPC');
      return true;
    };
    assert.throws(
      () => append('b'),
      (error: Error) => isRefusal(error) && (error.cause as Error).message === 'ENOSPC',
    );
    assert.throws(() => append('c'), isRefusal);
    assert.equal(writer.unavailableReason(), 'the journal cannot be written: ENOSPC');
    disk.fault = undefined;
    await assert.rejects(writer.flush(), isRefusal);
    await assert.rejects(writer.close(), isRefusal);
    assert.equal(disk.openHandles, 0);
    assert.deepEqual(lines, ['error | 1 | journal segment abandoned | ENOSPC', 'error | journal became unwritable | ENOSPC']);
  });

  test('a disk that is full for long is logged once, however often it is retried, and nothing is staged meanwhile', async () => {
    const { disk, writer, append, lines } = startWriter({ retryIntervalMs: 1 });
    let attempts = 0;
    disk.fault = (operation) => {
      if (operation !== 'write' && operation !== 'create') return;
      attempts += 1;
      throw new Error('ENOSPC');
    };
    assert.throws(() => append('a'), JournalUnavailableError);
    assert.throws(() => writer.stage(recordTypes.open, [json('b')], () => assert.fail('it was refused already')), JournalUnavailableError);
    await until(() => attempts > 5);
    assert.equal(lines.filter((line) => line.includes('journal became unwritable')).length, 1);
  });

  test('if the disk fails within a turn, written records succeed, and only the others are refused', async () => {
    const { disk, writer, append } = startWriter();
    const notified: string[] = [];
    const stage = (id: string): RecordPosition =>
      writer.stage(recordTypes.open, [json(id)], (refusal) => notified.push(`${id} ${refusal?.message ?? 'written'}`));
    const a = stage('a');
    append('b');
    stage('c');
    disk.fault = failing(['write', 'create'], 'ENOSPC');
    assert.throws(() => append('d'), JournalUnavailableError);
    await turnEnds();
    assert.deepEqual(notified, ['a written', 'c the journal cannot be written: ENOSPC']);
    assert.equal(idAt(disk, a), 'a');
  });

  test('if the next segment cannot be created, staged records are refused and not kept', async () => {
    const { disk, writer, append, lines, heals } = startWriter({ segmentBytesMax: 1, retryIntervalMs: 1 });
    const notified: unknown[] = [];
    writer.stage(recordTypes.open, [json('staged')], (refusal) => notified.push(refusal?.message));
    disk.fault = failing(['create'], 'EMFILE');
    assert.throws(
      () => append('next'),
      (error: Error) => error.message === 'the journal cannot be written: EMFILE' && (error.cause as Error).message === 'EMFILE',
    );
    await turnEnds();
    assert.deepEqual(notified, ['the journal cannot be written: EMFILE']);
    disk.fault = undefined;
    await until(() => writer.unavailableReason() === undefined);
    assert.deepEqual([heals, disk.files.get(pathOf(2))?.bytes.length], [[2], 0]);
    assert.deepEqual(lines.slice(-2), [
      'error | 1 | journal segment abandoned | replaced to retry',
      'warn | 2 | journal became writable again',
    ]);
  });

  test('a journal that fails without unsynced records has nothing to flush', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    append('a');
    await writer.flush();
    disk.fault = failing(['create']);
    assert.throws(() => append('b'), JournalUnavailableError);
    await writer.flush();
  });

  test('the probe file of a killed process does not prevent recovery', async () => {
    const disk = new MemoryJournalDisk(new Map([[`${directory}/probe`, { bytes: Buffer.from('?'), syncedBytes: 1 }]]));
    const { writer, append } = startWriter({ disk, retryIntervalMs: 1 });
    disk.fault = failing(['write'], 'ENOSPC', 2);
    assert.throws(() => append('a'), JournalUnavailableError);
    await until(() => writer.unavailableReason() === undefined);
    assert.deepEqual([disk.files.has(`${directory}/probe`), disk.files.has(directory)], [false, false]);
  });

  test('a failed sync of an unavailable journal begins no new segment', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    const held = holdSync(disk);
    append('a');
    const flushed = assert.rejects(writer.flush(), JournalUnavailableError);
    await until(() => held.started);
    disk.fault = failing(['create']);
    assert.throws(() => append('b'), JournalUnavailableError);
    disk.fault = undefined;
    held.reject(new Error('EIO'));
    await flushed;
    assert.equal(disk.files.size, 1);
  });

  test('a file that can be neither removed nor closed is logged, and the journal continues', async () => {
    const unfinished = startWriter();
    unfinished.disk.fault = failing(['write', 'remove']);
    assert.throws(() => unfinished.append('a'), JournalUnavailableError);
    assert.ok(unfinished.lines.includes('warn | 2 | removing an unfinished journal segment failed | EIO'));
    const full = startWriter({ segmentBytesMax: 1 });
    full.append('a');
    full.append('b');
    full.disk.fault = failing(['close']);
    await full.writer.flush();
    assert.deepEqual(full.lines, ['warn | 1 | closing a journal segment failed | EIO']);
  });
});

describe('closing', () => {
  test('everything is on the disk, no file is open, and no record is accepted', async () => {
    const { disk, writer, append } = startWriter();
    append('a');
    await writer.close();
    assert.deepEqual([isSynced(disk, 1), disk.openHandles, writer.unavailableReason()], [true, 0, 'the journal is closed']);
    assert.throws(() => append('b'), { name: 'JournalUnavailableError', message: 'the journal is closed' });
    assert.equal(disk.files.size, 1);
  });

  test('a handle is closed after the sync that uses it', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    const held = holdSync(disk);
    append('a');
    const flushed = assert.rejects(writer.flush(), JournalUnavailableError);
    await until(() => held.started);
    disk.fault = failing(['create']);
    assert.throws(() => append('b'), JournalUnavailableError);
    await assert.rejects(writer.close(), JournalUnavailableError);
    assert.equal(disk.openHandles, 1);
    held.resolve();
    await Promise.allSettled([flushed]);
    await until(() => disk.openHandles === 0);
  });
});
