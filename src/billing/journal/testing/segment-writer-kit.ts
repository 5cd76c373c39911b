import assert from 'node:assert/strict';

import { decodeRecord, type RecordType, recordTypes } from '../journal-record.ts';
import { MemoryJournalDisk, type DiskFault } from './memory-journal-disk.ts';
import { type RecordPosition, SegmentWriter, type SegmentWriterOptions } from '../segment-writer.ts';

export const directory = '/journal';
export const pathOf = (segment: number): string => `${directory}/segment-000000000${segment}.v1`;

export const json = (id: string, characters = 0): string => JSON.stringify({ id, text: 'x'.repeat(characters) });

const opened: SegmentWriter[] = [];

/** Closes the writers of a test, however it ended: their timers would keep the process alive. */
export async function closeWriters(): Promise<void> {
  await Promise.allSettled(opened.splice(0).map((writer) => writer.close()));
}

/** A writer that neither syncs nor retries by itself, unless the test sets it. */
export function startWriter(changes: Partial<SegmentWriterOptions> & { readonly disk?: MemoryJournalDisk } = {}) {
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
    progressSyncIntervalMs: 60_000,
    retryIntervalMs: 60_000,
    unsyncedBytesMax: 10_000_000,
    onMoved: (from, to) => moves.push([from, to]),
    onHealed: () => heals.push(writer.currentSegment),
    ...changes,
    disk,
  });
  writer.start();
  opened.push(writer);
  const append = (id: string, characters?: number, type: RecordType = recordTypes.done): RecordPosition =>
    writer.append(type, json(id, characters));
  return { disk, writer, append, lines, moves, heals };
}

export function idAt(disk: MemoryJournalDisk, { segment, offset, length }: RecordPosition): unknown {
  const record = decodeRecord(disk.readAt(pathOf(segment), offset, length), 0);
  return record === undefined ? undefined : (record.value as { readonly id: string }).id;
}

export const isSynced = (disk: MemoryJournalDisk, segment: number): boolean => {
  const file = disk.files.get(pathOf(segment));
  return file !== undefined && file.syncedBytes === file.bytes.length;
};

export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Fails the next `times` operations of these kinds. */
export function failing(kinds: readonly string[], code = 'EIO', times = Number.POSITIVE_INFINITY): DiskFault {
  let left = times;
  return (operation) => {
    if (!kinds.includes(operation) || left <= 0) return;
    left -= 1;
    throw new Error(code);
  };
}

/** Makes the first sync wait until the test ends it. */
export function holdSync(disk: MemoryJournalDisk) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const held = { started: false, resolve, reject };
  disk.fault = (operation) => {
    if (operation !== 'sync' || held.started) return undefined;
    held.started = true;
    return promise;
  };
  return held;
}
