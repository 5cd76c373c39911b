/** A file of an archive, as its records describe it. */
export type ZipEntry = {
  readonly name: string;
  readonly modifiedAtMs: number;
  readonly checksum: number;
  readonly compressedBytes: number;
  readonly contentBytes: number;
  /** Offset of its header in the archive. */
  readonly offset: number;
};

/** 3: Unix, 63: version 6.3 of the specification (APPNOTE.TXT). */
const madeBy = (3 << 8) | 63;
const versionPlain = 20;
/** Excel refuses archives that declare this version, so only entries that need it declare it. */
const versionZip64 = 45;
/** The name is UTF-8, and the sizes follow the content. */
const flags = (1 << 11) | (1 << 3);
const deflated = 8;
/** File mode: owner and group may write. */
const attributes = (0o100664 << 16) >>> 0;
const max32 = 0xffffffff;

/** The record before the content. The sizes are not known yet. */
export function encodeFileHeader({ name, modifiedAtMs }: Pick<ZipEntry, 'name' | 'modifiedAtMs'>): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(versionPlain, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(deflated, 8);
  header.writeUInt32LE(dosTime(modifiedAtMs), 10);
  header.writeUInt16LE(Buffer.byteLength(name), 26);
  return Buffer.concat([header, Buffer.from(name)]);
}

/** The record after the content, with its checksum and sizes. */
export function encodeDescriptor(entry: ZipEntry): Buffer {
  const wide = needsZip64(entry);
  const descriptor = Buffer.alloc(wide ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(entry.checksum, 4);
  if (wide) {
    descriptor.writeBigUInt64LE(BigInt(entry.compressedBytes), 8);
    descriptor.writeBigUInt64LE(BigInt(entry.contentBytes), 16);
  } else {
    descriptor.writeUInt32LE(entry.compressedBytes, 8);
    descriptor.writeUInt32LE(entry.contentBytes, 12);
  }
  return descriptor;
}

/**
 * The directory at the end of the archive.
 * @param offset where the directory begins
 */
export function encodeDirectory(entries: readonly ZipEntry[], offset: number): Buffer {
  const records = Buffer.concat(entries.map(encodeDirectoryRecord));
  const wide = offset >= max32 || records.length >= max32;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(wide ? max32 : records.length, 12);
  end.writeUInt32LE(wide ? max32 : offset, 16);
  return Buffer.concat([records, ...(wide ? [encodeWideEnd(entries.length, records.length, offset)] : []), end]);
}

function encodeDirectoryRecord(entry: ZipEntry): Buffer {
  const wide = needsZip64(entry);
  const extra = Buffer.concat([encodeModifiedAt(entry.modifiedAtMs), ...(wide ? [encodeWideSizes(entry)] : [])]);
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(madeBy, 4);
  record.writeUInt16LE(wide ? versionZip64 : versionPlain, 6);
  record.writeUInt16LE(flags, 8);
  record.writeUInt16LE(deflated, 10);
  record.writeUInt32LE(dosTime(entry.modifiedAtMs), 12);
  record.writeUInt32LE(entry.checksum, 16);
  record.writeUInt32LE(wide ? max32 : entry.compressedBytes, 20);
  record.writeUInt32LE(wide ? max32 : entry.contentBytes, 24);
  record.writeUInt16LE(Buffer.byteLength(entry.name), 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(attributes, 38);
  record.writeUInt32LE(wide ? max32 : entry.offset, 42);
  return Buffer.concat([record, Buffer.from(entry.name), extra]);
}

/** Sizes above 32 bits; the normal fields only refer to them. */
function encodeWideSizes({ contentBytes, compressedBytes, offset }: ZipEntry): Buffer {
  const extra = Buffer.alloc(28);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(BigInt(contentBytes), 4);
  extra.writeBigUInt64LE(BigInt(compressedBytes), 12);
  extra.writeBigUInt64LE(BigInt(offset), 20);
  return extra;
}

/** The end of a directory that is beyond 4 GiB, and the position of that end. */
function encodeWideEnd(count: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(madeBy, 12);
  end.writeUInt16LE(versionZip64, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directoryBytes), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(offset + directoryBytes), 64);
  end.writeUInt32LE(1, 72);
  return end;
}

/** The moment in UTC, for programs that do not need the local time of DOS. */
function encodeModifiedAt(modifiedAtMs: number): Buffer {
  const extra = Buffer.alloc(9);
  extra.writeUInt16LE(0x5455, 0);
  extra.writeUInt16LE(5, 2);
  extra.writeUInt8(3, 4);
  // The field is a signed number, written as its bits.
  extra.writeUInt32LE(Math.min(0x7fffffff, Math.max(0, Math.floor(modifiedAtMs / 1000))), 5);
  return extra;
}

function needsZip64({ compressedBytes, contentBytes, offset }: ZipEntry): boolean {
  return Math.max(compressedBytes, contentBytes, offset) >= max32;
}

/** Date and time in the format of DOS: local clock, steps of two seconds, from 1980 to 2107. */
function dosTime(ms: number): number {
  const at = new Date(Math.min(new Date(2107, 11, 31, 23, 59, 58).getTime(), Math.max(new Date(1980, 0, 1).getTime(), ms)));
  const date = ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate();
  const time = (at.getHours() << 11) | (at.getMinutes() << 5) | Math.floor(at.getSeconds() / 2);
  return ((date << 16) | time) >>> 0;
}
