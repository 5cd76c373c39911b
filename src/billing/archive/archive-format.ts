import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects, type RowGroup } from 'hyparquet';
import { ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';

import { ArchiveError, type ArchivedRow } from './call-archive.ts';

type ArchiveColumn = {
  readonly name: string;
  readonly type: NonNullable<ColumnSource['type']>;
  /** Default: false. */
  readonly nullable?: boolean;
  readonly of: (row: ArchivedRow) => unknown;
};

/** The columns of a file, with their types in Parquet. `accepted_at` is in milliseconds, UTC. */
const columns: readonly ArchiveColumn[] = [
  { name: 'call_id', type: 'STRING', of: (row: ArchivedRow) => row.callId },
  { name: 'accepted_at', type: 'TIMESTAMP', of: (row: ArchivedRow) => new Date(row.acceptedAtMs) },
  { name: 'user_name', type: 'STRING', of: (row: ArchivedRow) => row.userName },
  { name: 'key_id', type: 'STRING', nullable: true, of: (row: ArchivedRow) => row.keyId },
  { name: 'key_name', type: 'STRING', of: (row: ArchivedRow) => row.keyName },
  { name: 'requested_model', type: 'STRING', of: (row: ArchivedRow) => row.requestedModel },
  { name: 'amount_nano_usd', type: 'INT64', of: (row: ArchivedRow) => row.amountNanoUsd },
  { name: 'billed', type: 'INT32', of: (row: ArchivedRow) => row.billed },
  { name: 'prompt_tokens', type: 'INT64', of: (row: ArchivedRow) => row.promptTokens },
  { name: 'completion_tokens', type: 'INT64', of: (row: ArchivedRow) => row.completionTokens },
  { name: 'cache_tokens', type: 'INT64', of: (row: ArchivedRow) => row.cacheTokens },
  { name: 'cache_creation_tokens', type: 'INT64', of: (row: ArchivedRow) => row.cacheCreationTokens },
  { name: 'use_time_ms', type: 'INT64', of: (row: ArchivedRow) => row.useTimeMs },
  { name: 'reply_id', type: 'STRING', nullable: true, of: (row: ArchivedRow) => row.replyId },
  { name: 'held_pots', type: 'INT32', nullable: true, of: (row: ArchivedRow) => row.heldPots },
  { name: 'transaction_id', type: 'STRING', nullable: true, of: (row: ArchivedRow) => row.transactionId },
  { name: 'disputed', type: 'INT32', of: (row: ArchivedRow) => row.disputed },
  { name: 'unpriced', type: 'INT32', of: (row: ArchivedRow) => row.unpriced },
  { name: 'entry', type: 'STRING', of: (row: ArchivedRow) => row.entry },
];

/** Rows that are compressed together: reading one row reads so many. */
export const groupRows = 5000;

const compress = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) };
/** A page that would decompress to more was damaged. */
const pageBytesMax = 256 * 1024 * 1024;
const decompress = {
  // A page without values has no bytes.
  ZSTD: (bytes: Uint8Array, length: number) =>
    length === 0 ? new Uint8Array() : zstdDecompressSync(bytes, { maxOutputLength: Math.min(length, pageBytesMax) }),
};

function sourcesOf(rows: readonly ArchivedRow[]): ColumnSource[] {
  return columns.map(({ name, type, nullable = false, of }) => ({ name, type, nullable, data: rows.map(of) }));
}

/**
 * Writes rows as a Parquet file with ZSTD. Only one group of rows is in memory.
 * @param groups groups of up to `groupRows` rows, by time and id
 */
export async function* writeArchive(groups: AsyncIterable<readonly ArchivedRow[]>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({ columnData: sourcesOf([]) });
  const writer = new ParquetWriter({ writer: bytes, schema, codec: 'ZSTD', compressors: compress, createdBy: 'weir' });
  for await (const rows of groups) {
    await writer.write({ columnData: sourcesOf(rows), rowGroupSize: groupRows });
    yield takeBytes(bytes);
  }
  await writer.finish();
  yield takeBytes(bytes);
}

/** The bytes since the last call. The writer goes on counting its offset. */
function takeBytes(writer: ByteWriter): Uint8Array {
  const taken = writer.getBytes().slice();
  writer.index = 0;
  return taken;
}

/** An open file. */
export type ArchiveReader = {
  /** The rows of each group, in order. */
  readonly groups: () => AsyncGenerator<readonly ArchivedRow[]>;
  /** The rows with some ids. @param span the times at which their calls were accepted, both inclusive */
  readonly find: (callIds: readonly string[], span: { readonly fromMs: number; readonly toMs: number }) => Promise<readonly ArchivedRow[]>;
  /** The number of groups whose rows end before a time, so that reading can begin after them. */
  readonly groupsBefore: (ms: number) => number;
  /** The rows of one group; undefined after the last. */
  readonly group: (index: number) => Promise<readonly ArchivedRow[] | undefined>;
};

/** A text exactly as it was written: other decoders drop a mark at its beginning. */
const parsers = { stringFromBytes: (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() };
const reading = { compressors: decompress, parsers } as const;

/** Opens a file. Throws ArchiveError if it is not one of ours. */
export async function readArchive(file: AsyncBuffer): Promise<ArchiveReader> {
  const metadata = await naming(() => parquetMetadataAsync(file));
  const sizes = metadata.row_groups.map((group) => Number(group.num_rows));
  const group = async (index: number): Promise<readonly ArchivedRow[] | undefined> => {
    const size = sizes[index];
    const found = metadata.row_groups[index];
    if (size === undefined || found === undefined) return undefined;
    const rowStart = sizes.slice(0, index).reduce((sum, rows) => sum + rows, 0);
    return await naming(async () => {
      const part = await readRange(file, rangeOf(found));
      return (await parquetReadObjects({ file: part, metadata, ...reading, rowStart, rowEnd: rowStart + size })).map(decodeRow);
    });
  };
  return {
    groups: async function* groups() {
      for (let index = 0; index < sizes.length; index += 1) yield (await group(index)) ?? [];
    },
    find: (callIds, { fromMs, toMs }) =>
      naming(async () => {
        const filter = { call_id: { $in: [...callIds] }, accepted_at: { $gte: new Date(fromMs), $lte: new Date(toMs) } };
        return (await parquetReadObjects({ file, metadata, ...reading, filter })).map(decodeRow);
      }),
    groupsBefore: (ms) => {
      const ends = metadata.row_groups.map(({ columns: chunks }) => chunks[1]?.meta_data?.statistics?.max_value);
      const first = ends.findIndex((end) => !(end instanceof Date) || end.getTime() >= ms);
      return first < 0 ? sizes.length : first;
    },
    group,
  };
}

/** Where the pages of a group are. */
function rangeOf({ columns: chunks }: RowGroup): { readonly start: number; readonly end: number } {
  const parts = chunks.flatMap(({ meta_data: about }) =>
    about === undefined
      ? []
      : [{ start: Number(about.dictionary_page_offset ?? about.data_page_offset), bytes: Number(about.total_compressed_size) }],
  );
  return { start: Math.min(...parts.map(({ start }) => start)), end: Math.max(...parts.map(({ start, bytes }) => start + bytes)) };
}

/** One request for all columns: a bucket would take one for each. Other parts are read from the file. */
async function readRange(file: AsyncBuffer, { start, end }: { readonly start: number; readonly end: number }): Promise<AsyncBuffer> {
  const bytes = await file.slice(start, end);
  return {
    byteLength: file.byteLength,
    slice: (from, to = file.byteLength) => (from >= start && to <= end ? bytes.slice(from - start, to - start) : file.slice(from, to)),
  };
}

async function naming<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ArchiveError || (cause instanceof Error && cause.name === 'AbortError')) throw cause;
    throw new ArchiveError('the file cannot be read as an archive of calls', { cause });
  }
}

function decodeRow(row: Readonly<Record<string, unknown>>): ArchivedRow {
  const text = (name: string): string => {
    const value = row[name];
    if (typeof value === 'string') return value;
    throw new ArchiveError(`the column ${name} must be text; got ${typeof value}`);
  };
  const whole = (name: string): bigint => {
    const value = row[name];
    if (typeof value === 'bigint' || Number.isInteger(value)) return BigInt(value as bigint | number);
    throw new ArchiveError(`the column ${name} must be an integer; got ${typeof value}`);
  };
  const optional = <Value>(name: string, read: (name: string) => Value): Value | undefined =>
    row[name] === null || row[name] === undefined ? undefined : read(name);
  const acceptedAt = row['accepted_at'];
  if (!(acceptedAt instanceof Date)) throw new ArchiveError('the column accepted_at must be a time');
  const heldPots = optional('held_pots', whole);
  return {
    callId: text('call_id'),
    acceptedAtMs: acceptedAt.getTime(),
    userName: text('user_name'),
    keyId: optional('key_id', text),
    keyName: text('key_name'),
    requestedModel: text('requested_model'),
    amountNanoUsd: whole('amount_nano_usd'),
    billed: Number(whole('billed')),
    promptTokens: whole('prompt_tokens'),
    completionTokens: whole('completion_tokens'),
    cacheTokens: whole('cache_tokens'),
    cacheCreationTokens: whole('cache_creation_tokens'),
    useTimeMs: whole('use_time_ms'),
    replyId: optional('reply_id', text),
    heldPots: heldPots === undefined ? undefined : Number(heldPots),
    transactionId: optional('transaction_id', text),
    disputed: Number(whole('disputed')),
    unpriced: Number(whole('unpriced')),
    entry: text('entry'),
  };
}
