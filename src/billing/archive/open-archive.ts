import { createHash } from 'node:crypto';

import { type ArchiveReader, readArchive } from './archive-format.ts';
import { addRows, ArchiveError, type ArchiveFiles, type ArchiveSums, type CallArchive, type ArchivedRow, noSums } from './call-archive.ts';

type Known = Pick<CallArchive, 'id' | 'bytes'>;

/** Opens the file of an archive. @throws ArchiveError if it is missing, has another size, or cannot be read */
export async function openArchive(files: ArchiveFiles, { id, bytes }: Known, signal: AbortSignal): Promise<ArchiveReader> {
  const slice = async (start: number, end = bytes): Promise<ArrayBuffer> => {
    const pieces = start >= end ? [] : await files.open(id, { start, end: end - 1 }, signal);
    if (pieces === undefined) throw missing(files, id);
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) parts.push(piece);
    const whole = Buffer.concat(parts);
    if (whole.length !== end - start) throw new ArchiveError(`${files.placeOf(id)} is shorter than ${bytes} bytes`);
    return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length);
  };
  return await readArchive({ byteLength: bytes, slice });
}

const missing = (files: ArchiveFiles, id: string): ArchiveError => new ArchiveError(`${files.placeOf(id)} is missing`);

/** What a whole file has: its bytes, its rows' sums, and a digest of all values of its rows in order. */
export type ReadBack = { readonly sha256: string; readonly sums: ArchiveSums; readonly digest: string };

/**
 * Reads a whole file: first its bytes, then each row.
 * @param onGroup called after each group of rows
 * @throws ArchiveError
 */
export async function readBack(files: ArchiveFiles, known: Known, signal: AbortSignal, onGroup?: () => Promise<void>): Promise<ReadBack> {
  const pieces = await files.open(known.id, undefined, signal);
  if (pieces === undefined) throw missing(files, known.id);
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  const reader = await openArchive(files, known, signal);
  const rowDigest = createRowDigest();
  let sums = noSums;
  for await (const rows of reader.groups()) {
    signal.throwIfAborted();
    sums = addRows(sums, rows);
    for (const row of rows) rowDigest.add(row);
    await onGroup?.();
  }
  return { sha256: hash.digest('hex'), sums, digest: rowDigest.finish() };
}

/** A digest of rows and their order, in which no two different rows have the same text. */
export function createRowDigest() {
  const hash = createHash('sha256');
  return {
    add: (row: ArchivedRow): void => void hash.update(`${textOfRow(row)}\n`),
    finish: (): string => hash.digest('hex'),
  };
}

/** All values of a row as one text, to compare rows by. */
export const textOfRow = (row: ArchivedRow): string =>
  JSON.stringify([
    row.callId,
    row.acceptedAtMs,
    row.userName,
    row.keyId ?? null,
    row.keyName,
    row.requestedModel,
    String(row.amountNanoUsd),
    row.billed,
    ...[row.promptTokens, row.completionTokens, row.cacheTokens, row.cacheCreationTokens, row.useTimeMs].map(String),
    row.replyId ?? null,
    row.heldPots ?? null,
    row.transactionId ?? null,
    row.disputed,
    row.unpriced,
    row.entry,
  ]);
