import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';

import { decodeRecord, recordTypes } from './journal-record.ts';
import { JournalUnavailableError } from './journal.ts';
import { MemoryJournalDisk, type DiskFault } from './memory-journal-disk.ts';
import { type RecordPosition, SegmentWriter, type SegmentWriterOptions } from './segment-writer.ts';

const directory = '/journal';
const pathOf = (segment: number): string => `${directory}/segment-000000000${segment}.v1`;
const chunkBytes = 256 * 1024;

const json = (id: string, characters = 0): string => JSON.stringify({ id, text: 'x'.repeat(characters) });

const opened: SegmentWriter[] = [];
afterEach(async () => {
  await Promise.allSettled(opened.splice(0).map((writer) => writer.close()));
});

/** A writer that neither syncs nor tries again by itself, unless told to. */
function startWriter(changes: Partial<SegmentWriterOptions> & { readonly disk?: MemoryJournalDisk } = {}) {
  const disk = changes.disk ?? new MemoryJournalDisk();
  const lines: string[] = [];
  const note =
    (level: string) =>
    (fields: unknown, message?: string): void => {
      const { err, segment } = fields as { readonly err?: Error; readonly segment?: number };
      lines.push([level, segment, message, err?.message].filter((part) => part !== undefined).join(' | '));
    };
  const moves: unknown[] = [];
  const heals: number[] = [];
  const writer = new SegmentWriter({
    directory,
    logger: { warn: note('warn'), error: note('error') },
    firstSegment: 1,
    segmentBytesMax: 10_000_000,
    syncIntervalMs: 60_000,
    retryIntervalMs: 60_000,
    unsyncedBytesMax: 10_000_000,
    onMoved: (from, to) => moves.push([from, to]),
    onHealed: () => heals.push(writer.currentSegment),
    ...changes,
    disk,
  });
  writer.start();
  opened.push(writer);
  const append = (id: string, characters?: number): RecordPosition => writer.append(recordTypes.done, json(id, characters));
  return { disk, writer, append, lines, moves, heals };
}

function idAt(disk: MemoryJournalDisk, { segment, offset, length }: RecordPosition): unknown {
  const record = decodeRecord(disk.readAt(pathOf(segment), offset, length), 0);
  return record === undefined ? undefined : (record.value as { readonly id: string }).id;
}

const isSynced = (disk: MemoryJournalDisk, segment: number): boolean => {
  const file = disk.files.get(pathOf(segment));
  return file !== undefined && file.syncedBytes === file.bytes.length;
};

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 2000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const turnEnds = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Fails the next `times` operations of these kinds. */
function failing(kinds: readonly string[], code = 'EIO', times = Number.POSITIVE_INFINITY): DiskFault {
  let left = times;
  return (operation) => {
    if (!kinds.includes(operation) || left <= 0) return;
    left -= 1;
    throw new Error(code);
  };
}

/** Lets the first sync wait until it is told how it ends. */
function holdSync(disk: MemoryJournalDisk) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const held = { begun: false, resolve, reject };
  disk.fault = (operation) => {
    if (operation !== 'sync' || held.begun) return undefined;
    held.begun = true;
    return promise;
  };
  return held;
}

describe('where records lie', () => {
  for (const [name, sizes] of [
    ['small ones', [0, 10, 500]],
    ['many that need more than one piece of memory', Array.from({ length: 10 }, () => 40_000)],
    ['one that is larger than a piece of memory', [5, 300_000, 5]],
  ] as const) {
    test(`${name}: each is whole where its position says`, async () => {
      const { disk, writer, append } = startWriter();
      const positions = sizes.map((characters, index) => append(`r${index}`, characters));
      await writer.flush();
      positions.push(append('after'));
      assert.deepEqual(
        positions.map((position) => idAt(disk, position)),
        [...sizes.keys().map((index) => `r${index}`), 'after'],
      );
      assert.deepEqual(
        positions.map(({ offset }) => offset),
        positions.map((_, index) => positions.slice(0, index).reduce((sum, { length }) => sum + length, 0)),
      );
    });
  }

  for (const taken of [1, 7, 100]) {
    test(`short-write: of ${taken} bytes at a time nothing is written twice`, () => {
      const { disk, append } = startWriter();
      disk.fault = (operation) => (operation === 'write' ? taken : undefined);
      const position = append('a', 40);
      assert.equal(disk.files.get(pathOf(1))?.bytes.length, position.length);
    });
  }

  test('a segment that is exactly full takes no further record', () => {
    const { length } = startWriter().append('a');
    const { append } = startWriter({ segmentBytesMax: length });
    assert.deepEqual([append('a').segment, append('b').segment], [1, 2]);
    const roomy = startWriter({ segmentBytesMax: length + 1 });
    assert.deepEqual([roomy.append('a').segment, roomy.append('b').segment, roomy.append('c').segment], [1, 1, 2]);
  });

  test('memory of synced records is used again: four pieces at most, and never one of another size', async () => {
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
  test('a record that comes while a sync is under way is on the disk after the next', async () => {
    const { disk, append } = startWriter({ syncIntervalMs: 1 });
    const held = holdSync(disk);
    append('a');
    await until(() => held.begun);
    const late = append('b');
    held.resolve();
    await until(() => isSynced(disk, 1));
    assert.equal(idAt(disk.afterCrash('power-loss'), late), 'b');
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

  test('as much as may wait for the disk may wait, and not a byte more', () => {
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
    await until(() => held.begun);
    append('b');
    append('c');
    held.resolve();
    await first;
    assert.equal(disk.openHandles, 2, 'b is in the first segment and not synced');
    await writer.flush();
    assert.equal(disk.openHandles, 1);
    assert.deepEqual([lines, isSynced(disk, 1), isSynced(disk, 2)], [[], true, true]);
  });

  test('a record that waits in the new segment keeps no earlier one open', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    const held = holdSync(disk);
    append('a');
    const first = writer.flush();
    await until(() => held.begun);
    append('b');
    held.resolve();
    await first;
    assert.equal(disk.openHandles, 1);
  });

  test('sync-error of a segment that was left meanwhile: the new one is not given up for it', async () => {
    const { disk, writer, append, lines } = startWriter();
    const held = holdSync(disk);
    append('a');
    const flushed = writer.flush();
    await until(() => held.begun);
    disk.fault = failing(['write'], 'EIO', 1);
    append('b');
    held.reject(new Error('too late'));
    await flushed;
    assert.equal(writer.currentSegment, 2);
    assert.deepEqual(lines, ['error | 1 | journal: a segment failed and is abandoned | EIO']);
    assert.ok(isSynced(disk, 2));
  });

  test('sync-errors with a success between them are each mended by a new segment', async () => {
    const { disk, writer, append, lines } = startWriter();
    for (const segment of [2, 3]) {
      disk.fault = failing(['sync'], 'EIO', 1);
      append('a');
      await writer.flush();
      assert.deepEqual([writer.currentSegment, writer.unavailableReason()], [segment, undefined]);
    }
    assert.equal(lines.length, 2);
  });

  test('a journal that cannot be written is not synced again before it heals', async () => {
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

describe('a disk that refuses', () => {
  test('what was not synced is written to a new segment, and each piece is told where it went', async () => {
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
    assert.deepEqual(lines, ['error | 1 | journal: a segment failed and is abandoned | EIO']);
  });

  test('a disk that takes no bytes at all has failed', () => {
    const { disk, append, lines } = startWriter();
    let isFirst = true;
    disk.fault = (operation) => {
      if (operation !== 'write' || !isFirst) return undefined;
      isFirst = false;
      return 0;
    };
    assert.equal(append('a').segment, 2);
    assert.deepEqual(lines, ['error | 1 | journal: a segment failed and is abandoned | the disk took no bytes']);
  });

  test('disk-full: the refusal says why, it is logged once, and flushing what was written before is refused too', async () => {
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
    assert.deepEqual(lines, [
      'error | 1 | journal: a segment failed and is abandoned | ENOSPC',
      'error | journal: cannot be written; new calls are refused | ENOSPC',
    ]);
  });

  test('of a turn in which the disk fails, who was written before hears so, and only the others are refused', async () => {
    const { disk, writer, append } = startWriter();
    const heard: string[] = [];
    const stage = (id: string): RecordPosition =>
      writer.stage(recordTypes.open, json(id), (refusal) => heard.push(`${id} ${refusal?.message ?? 'written'}`));
    const a = stage('a');
    append('b');
    stage('c');
    disk.fault = failing(['write', 'create'], 'ENOSPC');
    assert.throws(() => append('d'), JournalUnavailableError);
    await turnEnds();
    assert.deepEqual(heard, ['a written', 'c the journal cannot be written: ENOSPC']);
    assert.equal(idAt(disk, a), 'a');
  });

  test('a next segment that cannot be made: who waits for the turn to end is refused, and what was refused stays nowhere', async () => {
    const { disk, writer, append, lines, heals } = startWriter({ segmentBytesMax: 1, retryIntervalMs: 1 });
    const heard: unknown[] = [];
    writer.stage(recordTypes.open, json('staged'), (refusal) => heard.push(refusal?.message));
    disk.fault = failing(['create'], 'EMFILE');
    assert.throws(
      () => append('next'),
      (error: Error) => error.message === 'the journal cannot be written: EMFILE' && (error.cause as Error).message === 'EMFILE',
    );
    await turnEnds();
    assert.deepEqual(heard, ['the journal cannot be written: EMFILE']);
    disk.fault = undefined;
    await until(() => writer.unavailableReason() === undefined);
    assert.deepEqual([heals, disk.files.get(pathOf(2))?.bytes.length], [[2], 0]);
    assert.deepEqual(lines.slice(-2), [
      'error | 1 | journal: a segment failed and is abandoned | left to try again',
      'warn | 2 | journal: writing again',
    ]);
  });

  test('a journal that fails while nothing waits for the disk has nothing left to flush', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    append('a');
    await writer.flush();
    disk.fault = failing(['create']);
    assert.throws(() => append('b'), JournalUnavailableError);
    await writer.flush();
  });

  test('a probe that a killed process left behind does not keep the journal from healing', async () => {
    const disk = new MemoryJournalDisk(new Map([[`${directory}/probe`, { bytes: Buffer.from('?'), syncedBytes: 1 }]]));
    const { writer, append } = startWriter({ disk, retryIntervalMs: 1 });
    disk.fault = failing(['write'], 'ENOSPC', 2);
    assert.throws(() => append('a'), JournalUnavailableError);
    await until(() => writer.unavailableReason() === undefined);
    assert.deepEqual([disk.files.has(`${directory}/probe`), disk.files.has(directory)], [false, false]);
  });

  test('a failed sync of a journal that fails already begins no new segment', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    const held = holdSync(disk);
    append('a');
    const flushed = assert.rejects(writer.flush(), JournalUnavailableError);
    await until(() => held.begun);
    disk.fault = failing(['create']);
    assert.throws(() => append('b'), JournalUnavailableError);
    disk.fault = undefined;
    held.reject(new Error('EIO'));
    await flushed;
    assert.equal(disk.files.size, 1);
  });

  test('a file that can be neither removed nor closed is named, and the work goes on', async () => {
    const unfinished = startWriter();
    unfinished.disk.fault = failing(['write', 'remove']);
    assert.throws(() => unfinished.append('a'), JournalUnavailableError);
    assert.ok(unfinished.lines.includes('warn | 2 | journal: an unfinished segment could not be removed | EIO'));
    const full = startWriter({ segmentBytesMax: 1 });
    full.append('a');
    full.append('b');
    full.disk.fault = failing(['close']);
    await full.writer.flush();
    assert.deepEqual(full.lines, ['warn | 1 | journal: a segment could not be closed | EIO']);
  });
});

describe('closing', () => {
  test('everything is on the disk, nothing is open, and nothing is taken any more', async () => {
    const { disk, writer, append } = startWriter();
    append('a');
    await writer.close();
    assert.deepEqual([isSynced(disk, 1), disk.openHandles, writer.unavailableReason()], [true, 0, 'the journal is closed']);
    assert.throws(() => append('b'), { name: 'JournalUnavailableError', message: 'the journal is closed' });
    assert.equal(disk.files.size, 1);
  });

  test('a handle that a sync is using is closed when that has ended', async () => {
    const { disk, writer, append } = startWriter({ segmentBytesMax: 1 });
    const held = holdSync(disk);
    append('a');
    const flushed = assert.rejects(writer.flush(), JournalUnavailableError);
    await until(() => held.begun);
    disk.fault = failing(['create']);
    assert.throws(() => append('b'), JournalUnavailableError);
    await assert.rejects(writer.close(), JournalUnavailableError);
    assert.equal(disk.openHandles, 1);
    held.resolve();
    await Promise.allSettled([flushed]);
    await until(() => disk.openHandles === 0);
  });
});
