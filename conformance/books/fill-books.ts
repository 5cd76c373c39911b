import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createEntry } from '../store/call-entries.ts';

const entriesAtOnce = 500;

/** Opens the database of a folder for some work, and closes it. */
export async function useStore<Result>(path: string, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openSqliteStore({ path });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Books old calls and a call of today, as far as the statistics. */
export async function fillBooks(store: Store, entries: readonly CallEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += entriesAtOnce) await store.appendEntries(entries.slice(at, at + entriesAtOnce));
  await store.appendEntries([createEntry('newest', { acceptedAtMs: Date.now() })]);
  while ((await store.followCalls(entriesAtOnce, Date.now())) === 'more');
}
