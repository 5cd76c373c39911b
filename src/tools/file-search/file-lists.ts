import type { OwnedRemoval, ScopedList } from '../../accounts/scoped-list.ts';
import type { CountedStore, StoredFile } from './file-objects.ts';

type FileQuery = ScopedList & { readonly id?: string; readonly purpose?: string; readonly storeId?: string; readonly nowMs: number };

/**
 * What the people who administer users may do with their files and vector stores, newest first. Expired files and
 * unfinished uploads do not exist. All methods reject with the store's error.
 */
export type FileLists = {
  readonly queryFiles: (query: FileQuery) => Promise<readonly StoredFile[]>;
  readonly queryVectorStores: (query: ScopedList & { readonly id?: string }) => Promise<readonly CountedStore[]>;
  /** Deletes a file and all that was made from it. False if it does not exist. The version of a file is always 1. */
  readonly removeFile: (removal: OwnedRemoval) => Promise<boolean>;
  /** Deletes a store; its files stay. False if it does not exist. Its version is the time of its last use. */
  readonly removeVectorStore: (removal: OwnedRemoval) => Promise<boolean>;
};
