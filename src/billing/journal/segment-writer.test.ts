import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';

import { recordTypes } from './journal-record.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import { closeWriters, failing, holdSync, idAt, isSynced, pathOf, startWriter, until } from './testing/segment-writer-kit.ts';

const chunkBytes = 256 * 1024;

afterEach(closeWriters);

describe('the positions of records', () => {
  for (const [name, sizes] of [
    ['small ones', [0, 10, 500]],
    ['many that need more than one chunk', Array.from({ length: 10 }, () => 40_000)],
    ['one that is larger than a chunk', [5, 300_000, 5]],
  ] as const) {
    test(`${name}: each is complete at its position`, async () => {
      const { disk, writer, append } = startWriter();
      const positions = sizes.map((characters, index) => append(`r${index}`, characters));
      await writer.flush();
      positions.push(append('after'), append('last'));
      assert.deepEqual(
        positions.map((position) => idAt(disk, position)),
        [...sizes.keys().map((index) => `r${index}`), 'after', 'last'],
      );
      assert.deepEqual(
        positions.map(({ offset }) => offset),
        positions.map((_, index) => positions.slice(0, index).reduce((sum, { length }) => sum + length, 0)),
      );
    });
  }

  for (const accepted of [1, 7, 100]) {
    test(`a disk that accepts ${accepted} bytes at a time gets no byte twice`, () => {
      const { disk, append } = startWriter();
      disk.fault = (operation) => (operation === 'write' ? accepted : undefined);
      const position = append('a', 40);
      assert.equal(disk.files.get(pathOf(1))?.bytes.length, position.length);
    });
  }

  test('a segment that is exactly full accepts no further record', () => {
    const { length } = startWriter().append('a');
    const { append } = startWriter({ segmentBytesMax: length });
    assert.deepEqual([append('a').segment, append('b').segment], [1, 2]);
    const roomy = startWriter({ segmentBytesMax: length + 1 });
    assert.deepEqual([roomy.append('a').segment, roomy.append('b').segment, roomy.append('c').segment], [1, 1, 2]);
  });

  test('a segment is created with its full length, and has its own when it is closed', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 100_000 });
    const { length } = append('a');
    assert.equal(disk.read(pathOf(1)).length, 128 * 1024);
    await writer.close();
    assert.equal(disk.read(pathOf(1)).length, length);
  });

  test('chunks of synced records are reused: at most four, and never one of another size', async () => {
    const pieces = new Set<Buffer>();
    class WatchedDisk extends MemoryJournalDisk {
      override write(handle: number, bytes: Buffer, offset: number, length: number): number {
        pieces.add(bytes);
        return super.write(handle, bytes, offset, length);
      }
    }
    const { writer, append } = startWriter({ disk: new WatchedDisk() });
    append('large', 300_000);
    await writer.flush();
    pieces.clear();
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 6; index += 1) append('a', 80_000);
      await writer.flush();
    }
    assert.deepEqual([...new Set([...pieces].map((bytes) => bytes.length))], [chunkBytes]);
    assert.equal(pieces.size, 6 + 2);
  });
});

describe('syncing', () => {
  test('a record that is appended during a sync is on the disk after the next one', async () => {
    const { disk, append } = startWriter({ syncIntervalMs: 1 });
    const held = holdSync(disk);
    append('a');
    await until(() => held.started);
    const late = append('b');
    held.resolve();
    await until(() => isSynced(disk, 1));
    assert.equal(idAt(disk.afterCrash('power-loss'), late), 'b');
  });

  test('progress is synced after its interval, also if it came during a sync', async () => {
    const { disk, append } = startWriter({ progressSyncIntervalMs: 1 });
    const held = holdSync(disk);
    append('a', 0, recordTypes.progress);
    await until(() => held.started);
    const late = append('b', 0, recordTypes.progress);
    held.resolve();
    await until(() => isSynced(disk, 1));
    assert.equal(idAt(disk.afterCrash('power-loss'), late), 'b');
  });

  test('progress whose sync failed is soon synced in its new segment', async () => {
    const { disk, append } = startWriter({ syncIntervalMs: 1, progressSyncIntervalMs: 2 });
    disk.fault = failing(['sync'], 'EIO', 1);
    append('a', 0, recordTypes.progress);
    await until(() => isSynced(disk, 2));
  });

  test('the name of a segment is synced once', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 100 });
    let names = 0;
    disk.fault = (operation) => void (operation === 'syncDirectory' && (names += 1));
    const counts: number[] = [];
    for (const characters of [0, 100, 0]) {
      append('a', characters);
      await writer.flush();
      counts.push(names);
    }
    assert.deepEqual(counts, [1, 1, 2]);
  });

  test('the unsynced bytes may reach their limit, and not exceed it', () => {
    const { length } = startWriter().append('a');
    for (const [unsyncedBytesMax, reason] of [
      [length, undefined],
      [length - 1, 'the disk of the journal is not keeping up'],
    ] as const) {
      const { writer, append } = startWriter({ unsyncedBytesMax });
      append('a');
      assert.equal(writer.unavailableReason(), reason);
    }
  });

  test('a segment that is full keeps its handle until its records are synced, and no longer', async () => {
    const { length } = startWriter().append('a');
    const { disk, writer, append, lines } = startWriter({ segmentBytesMax: 2 * length });
    const held = holdSync(disk);
    append('a');
    const first = writer.flush();
    await until(() => held.started);
    append('b');
    append('c');
    held.resolve();
    await first;
    assert.equal(disk.openHandles, 2, 'b is in the first segment and not synced');
    await writer.flush();
    assert.equal(disk.openHandles, 1);
    assert.deepEqual([lines, isSynced(disk, 1), isSynced(disk, 2)], [[], true, true]);
  });

  test('an unsynced record in the new segment does not keep an earlier segment open', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    const held = holdSync(disk);
    append('a');
    const first = writer.flush();
    await until(() => held.started);
    append('b');
    held.resolve();
    await first;
    assert.equal(disk.openHandles, 1);
  });

  test('a failed sync of an earlier segment does not abandon the new one', async () => {
    const { disk, writer, append, lines } = startWriter();
    const held = holdSync(disk);
    append('a');
    const flushed = writer.flush();
    await until(() => held.started);
    disk.fault = failing(['write'], 'EIO', 1);
    append('b');
    held.reject(new Error('too late'));
    await flushed;
    assert.equal(writer.currentSegment, 2);
    assert.deepEqual(lines, ['error | 1 | journal segment abandoned | EIO']);
    assert.ok(isSynced(disk, 2));
  });

  test('failed syncs with a success between them are each repaired by a new segment', async () => {
    const { disk, writer, append, lines } = startWriter();
    for (const segment of [2, 3]) {
      disk.fault = failing(['sync'], 'EIO', 1);
      append('a');
      await writer.flush();
      assert.deepEqual([writer.currentSegment, writer.unavailableReason()], [segment, undefined]);
    }
    assert.equal(lines.length, 2);
  });

  test('an unavailable journal is not synced again before it recovers', async () => {
    const { disk, writer, append } = startWriter({ syncIntervalMs: 1 });
    let syncs = 0;
    disk.fault = (operation) => {
      if (operation !== 'sync') return;
      syncs += 1;
      throw new Error('EIO');
    };
    append('a');
    await until(() => writer.unavailableReason() !== undefined);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal(syncs, 2);
  });
});
