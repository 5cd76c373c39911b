import type { JsonObject } from '../../../platform/json/json-value.ts';
import {
  type Chunking,
  type CountedStore,
  expiryOf,
  type FileBatch,
  type FileCounts,
  type StoredFile,
  type StoreFile,
} from '../../../tools/file-search/file-objects.ts';

const seconds = (ms: number): number => Math.floor(ms / 1000);

export function encodeFile(file: StoredFile): JsonObject {
  const { id, bytes, createdAtMs, expiresAtMs, filename, purpose } = file;
  const expiry = expiresAtMs === undefined ? {} : { expires_at: seconds(expiresAtMs) };
  return {
    id,
    object: 'file',
    bytes,
    created_at: seconds(createdAtMs),
    ...expiry,
    filename,
    purpose,
    status: 'processed',
    status_details: null,
  };
}

export function encodeStore(store: CountedStore, nowMs: number): JsonObject {
  const expiresAtMs = expiryOf(store);
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  return {
    id: store.id,
    object: 'vector_store',
    created_at: seconds(store.createdAtMs),
    name: store.name,
    usage_bytes: store.usageBytes,
    file_counts: encodeCounts(store.counts),
    status: isExpired ? 'expired' : store.counts.in_progress > 0 ? 'in_progress' : 'completed',
    ...(store.expiresAfterDays === undefined ? {} : { expires_after: { anchor: 'last_active_at', days: store.expiresAfterDays } }),
    expires_at: expiresAtMs === undefined ? null : seconds(expiresAtMs),
    last_active_at: seconds(store.lastActiveAtMs),
    metadata: store.metadata,
  };
}

function encodeCounts(counts: FileCounts): JsonObject {
  const total = counts.in_progress + counts.completed + counts.failed + counts.cancelled;
  const { in_progress, completed, failed, cancelled } = counts;
  return { in_progress, completed, failed, cancelled, total };
}

export function encodeStoreFile(file: StoreFile): JsonObject {
  return {
    id: file.fileId,
    object: 'vector_store.file',
    usage_bytes: file.usageBytes,
    created_at: seconds(file.createdAtMs),
    vector_store_id: file.storeId,
    status: file.status,
    last_error: file.error === undefined ? null : { code: file.error.code, message: file.error.message },
    chunking_strategy: encodeChunking(file.chunking),
    attributes: file.attributes,
  };
}

/** Default chunking is shown with its figures, as the vendor does. */
function encodeChunking({ tokensMax, overlapTokens }: Chunking): JsonObject {
  return { type: 'static', static: { max_chunk_size_tokens: tokensMax, chunk_overlap_tokens: overlapTokens } };
}

export function encodeBatch(batch: FileBatch): JsonObject {
  const { counts } = batch;
  const isDone = counts.in_progress === 0;
  return {
    id: batch.id,
    object: 'vector_store.files_batch',
    created_at: seconds(batch.createdAtMs),
    vector_store_id: batch.storeId,
    status: batch.isCancelled ? 'cancelled' : isDone ? 'completed' : 'in_progress',
    file_counts: encodeCounts(counts),
  };
}

/** A page of a list. `rows` has one row more than the page if there is a next page. */
export function encodeList<Row>(rows: readonly Row[], shown: number, encode: (row: Row) => JsonObject, isBackwards = false): JsonObject {
  const hasMore = rows.length > shown;
  const data = (isBackwards ? rows.slice(-shown) : rows.slice(0, shown)).map(encode);
  return { object: 'list', data, first_id: data[0]?.['id'] ?? null, last_id: data.at(-1)?.['id'] ?? null, has_more: hasMore };
}
