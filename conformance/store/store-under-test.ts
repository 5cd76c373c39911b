import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import type { SnapshotSource } from '../../src/store/reading/answer-reader.ts';
import type { Store } from '../../src/store/store.ts';

/** An engine under test, on an empty database of its own. */
export type StoreUnderTest = {
  /** The store; after `reopen` the new one. */
  readonly store: () => Store;
  /** Closes the store and opens the same database again. */
  readonly reopen: () => Promise<void>;
  /** Another handle on the same database, like that of another process. Closed by `close`. */
  readonly openAnother: () => Promise<Store>;
  /** Snapshots of the same database. Closed by `close`. */
  readonly openSnapshots: () => SnapshotSource;
  /** Runs a statement outside of the store, like a user with a database shell. Throws the engine's errors. */
  readonly tamper: (sql: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** One engine per group of tests: opening is slow, and the tests use names of their own. */
export function useEngine(open: () => Promise<StoreUnderTest>): () => StoreUnderTest {
  let engine: StoreUnderTest | undefined;
  before(async () => {
    engine = await open();
  });
  after(() => engine?.close());
  return () => engine ?? assert.fail('the engine was not opened');
}
