import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import type { SnapshotSource } from '../../src/store/reading/answer-reader.ts';
import type { Store } from '../../src/store/store.ts';

/** An engine under test, on a database of its own that starts empty. */
export type StoreUnderTest = {
  /** The store; after `reopen` the new one. */
  readonly store: () => Store;
  /** Closes the store and opens the same database again. */
  readonly reopen: () => Promise<void>;
  /** One more handle on the same database, as another process would have it. Closed by `close`. */
  readonly openAnother: () => Promise<Store>;
  /** Snapshots of the same database. Closed by `close`. */
  readonly openSnapshots: () => SnapshotSource;
  /** Runs a statement past the store, as someone with a database shell would. Throws what the engine throws. */
  readonly tamper: (sql: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** One engine per group of tests: opening is the slow part, and the tests use names of their own. */
export function useEngine(open: () => Promise<StoreUnderTest>): () => StoreUnderTest {
  let engine: StoreUnderTest | undefined;
  before(async () => {
    engine = await open();
  });
  after(() => engine?.close());
  return () => engine ?? assert.fail('the engine was not opened');
}
