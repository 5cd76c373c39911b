import { crc32 } from 'node:zlib';

/** Types of records. The numbers are on disk and are never reused. */
export const recordTypes = { open: 1, head: 2, progress: 3, done: 4 } as const;

export type RecordType = (typeof recordTypes)[keyof typeof recordTypes];

/** Length of the payload u32 | CRC-32 of type and payload u32 | type u8 | payload, little endian. */
const recordHeaderBytes = 9;

/** The longest payload. A call's entry has a few kilobytes; a larger length is damage. */
export const recordPayloadBytesMax = 1024 * 1024;

export type JournalRecord = {
  readonly type: RecordType;
  readonly offset: number;
  readonly length: number;
  readonly value: unknown;
};

export type SegmentScan = {
  readonly records: readonly JournalRecord[];
  /**
   * Bytes from the start that are complete records. If less than the length of the file, the rest is torn or damaged.
   */
  readonly cleanBytes: number;
  /**
   * True if complete records follow a part that is none: damage in the middle, and not an end that was never written.
   */
  readonly damaged: boolean;
};

/** An upper limit of the bytes of a record with this payload, in pieces, before its length in UTF-8 is known. */
export function recordBytesBound(...json: readonly string[]): number {
  let bound = recordHeaderBytes;
  for (const piece of json) bound += piece.length * 3;
  return bound;
}

/**
 * Writes a record, whose payload may be in pieces, into a buffer with at least `recordBytesBound` free bytes, and
 * returns its length.
 */
export function encodeRecord(buffer: Buffer, at: number, type: RecordType, ...json: readonly string[]): number {
  let payload = 0;
  for (const piece of json) payload += buffer.write(piece, at + recordHeaderBytes + payload, 'utf8');
  buffer[at + 8] = type;
  buffer.writeUInt32LE(payload, at);
  buffer.writeUInt32LE(crc32(buffer.subarray(at + 8, at + recordHeaderBytes + payload)), at + 4);
  return recordHeaderBytes + payload;
}

/** Decodes the record at an offset; undefined if there is no complete, undamaged one. */
export function decodeRecord(buffer: Buffer, at: number): JournalRecord | undefined {
  if (at + recordHeaderBytes > buffer.length) return undefined;
  const payload = buffer.readUInt32LE(at);
  const end = at + recordHeaderBytes + payload;
  const type = buffer[at + 8];
  if (payload < 2 || payload > recordPayloadBytesMax || end > buffer.length || !isRecordType(type)) return undefined;
  // Every payload is a JSON object; checking its first byte avoids a checksum at nearly every offset of a damaged part.
  if (buffer[at + recordHeaderBytes] !== 0x7b) return undefined;
  if (crc32(buffer.subarray(at + 8, end)) !== buffer.readUInt32LE(at + 4)) return undefined;
  const value: unknown = JSON.parse(buffer.toString('utf8', at + recordHeaderBytes, end));
  return { type, offset: at, length: end - at, value };
}

const zeros = Buffer.alloc(64 * 1024);

/** The length with which a segment for this many bytes is created. */
export function createdBytes(bytes: number): number {
  return Math.ceil(bytes / zeros.length) * zeros.length;
}

/**
 * The part of a segment that was written. A segment that was not closed has the length that it was created with, and
 * ends with zeros. No record does. Zeros at the end of a file of another length are writes that a power loss undid.
 */
export function writtenPart(buffer: Buffer): Buffer {
  if (buffer.length % zeros.length !== 0) return buffer;
  let end = buffer.length;
  while (end >= zeros.length && zeros.compare(buffer, end - zeros.length, end) === 0) end -= zeros.length;
  while (end > 0 && buffer[end - 1] === 0) end -= 1;
  return buffer.subarray(0, end);
}

/** Reads all complete records of a segment, also those after a damaged part. */
export function scanSegment(buffer: Buffer): SegmentScan {
  const records: JournalRecord[] = [];
  let cleanBytes: number | undefined;
  let damaged = false;
  let at = 0;
  while (at < buffer.length) {
    const record = decodeRecord(buffer, at);
    if (record === undefined) {
      cleanBytes ??= at;
      at += 1;
      continue;
    }
    records.push(record);
    damaged ||= cleanBytes !== undefined;
    at += record.length;
  }
  return { records, cleanBytes: cleanBytes ?? buffer.length, damaged };
}

function isRecordType(value: number | undefined): value is RecordType {
  return value !== undefined && value >= recordTypes.open && value <= recordTypes.done;
}
