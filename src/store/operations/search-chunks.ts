import { parseJsonObject } from '../../platform/json/parse-json.ts';
import type { Attributes } from '../../tools/file-search/file-objects.ts';
import { fitsFilter } from '../../tools/file-search/fits-filter.ts';
import type { Database } from './database.ts';
import { readBytes, readInteger, readText } from './read-column.ts';
import type { FileSearchOperations } from '../worker/store-protocol.ts';

type Query = Parameters<FileSearchOperations['searchChunks']>[0];
type Found = Awaited<ReturnType<FileSearchOperations['searchChunks']>>;
type Scored = { readonly id: number; readonly score: number };

/** Finds the best matching chunks. Only completed files of this user that match the filter are searched. */
export async function searchChunks(database: Database, query: Query): Promise<Found> {
  const mayFind = await allowedFiles(database, query);
  const stores = [...mayFind.keys()];
  if (stores.length === 0) return { byText: [], byVector: [] };
  const byText = query.match === undefined ? [] : await searchTerms(database, stores, query.match, mayFind);
  const byVector = query.vector === undefined ? [] : await searchVectors(database, stores, query.vector, mayFind);
  return { byText: best(byText, query.candidatesMax), byVector: best(byVector, query.candidatesMax) };
}

/** The files that may be searched, by store. */
type AllowedFiles = ReadonlyMap<string, ReadonlySet<string>>;

const completedFiles = `select file_id, attributes from store_files join vector_stores on vector_stores.id = store_id
  where store_id = ? and user_name = ? and status = 'completed'`;

async function allowedFiles(database: Database, { storeIds, userName, filter }: Query): Promise<AllowedFiles> {
  const allowed = new Map<string, ReadonlySet<string>>();
  for (const storeId of new Set(storeIds)) {
    const files = new Set<string>();
    for (const row of await database.all(completedFiles, storeId, userName)) {
      const attributes = (parseJsonObject(readText(row, 'attributes')) ?? {}) as Attributes;
      if (filter === undefined || fitsFilter(filter, attributes)) files.add(readText(row, 'file_id'));
    }
    if (files.size > 0) allowed.set(storeId, files);
  }
  return allowed;
}

async function searchTerms(
  database: Database,
  stores: readonly string[],
  match: string,
  allowed: AllowedFiles,
): Promise<readonly Scored[]> {
  const scored: Scored[] = [];
  for (const storeId of stores) {
    const files = allowed.get(storeId);
    for (const found of await database.termIndex.search(database, { storeId, match }))
      if (files?.has(found.fileId) === true) scored.push(found);
  }
  return scored;
}

async function searchVectors(
  database: Database,
  stores: readonly string[],
  queryVector: Float32Array,
  allowed: AllowedFiles,
): Promise<readonly Scored[]> {
  const sql = 'select id, vector from chunks where store_id = ? and file_id = ? and vector is not null';
  const scored: Scored[] = [];
  for (const storeId of stores) {
    for (const fileId of allowed.get(storeId) ?? []) {
      for (const row of await database.all(sql, storeId, fileId)) {
        const score = similarity(queryVector, readBytes(row, 'vector'));
        if (score !== undefined) scored.push({ id: readInteger(row, 'id'), score });
      }
    }
  }
  return scored;
}

/**
 * The product of two vectors, which is their cosine because both have length 1; undefined if they come from different
 * models. It processes millions of numbers per search, so it does not check bounds.
 */
function similarity(queryVector: Float32Array, bytes: Uint8Array): number | undefined {
  if (bytes.byteLength !== queryVector.byteLength) return undefined;
  const isAligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0;
  const vector = isAligned ? new Float32Array(bytes.buffer, bytes.byteOffset, queryVector.length) : new Float32Array(bytes.slice().buffer);
  let product = 0;
  for (let at = 0; at < queryVector.length; at++) product += (queryVector[at] as number) * (vector[at] as number);
  return product;
}

function best(scored: readonly Scored[], max: number): readonly number[] {
  return scored
    .toSorted((left, right) => right.score - left.score || left.id - right.id)
    .slice(0, max)
    .map(({ id }) => id);
}
