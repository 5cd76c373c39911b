import { createChunkOperations } from './chunk-operations.ts';
import { createFileOperations } from './file-operations.ts';
import type { Database } from './database.ts';
import type { FileSearchOperations } from '../worker/store-protocol.ts';
import { createVectorStoreOperations } from './vector-store-operations.ts';

/** The SQL of files, vector stores and the index of their text. */
export function createFileSearchOperations(database: Database): FileSearchOperations {
  return { ...createFileOperations(database), ...createVectorStoreOperations(database), ...createChunkOperations(database) };
}
