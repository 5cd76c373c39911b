import { join } from 'node:path';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from './http.ts';

const pageEntries = 10_000;

/** The ledger of a data directory, opened for reading beside its writers. */
export type Ledger = {
  readonly store: Store;
  /** Every row, newest first. */
  readonly all: () => Promise<readonly CallEntry[]>;
  /** Waits until a call has its row. */
  readonly row: (callId: string, limitMs?: number) => Promise<CallEntry>;
  /** Waits until a call has `count` rows, its parts included: they are booked one after the other. */
  readonly rows: (callId: string, count: number) => Promise<readonly CallEntry[]>;
  readonly close: () => Promise<void>;
};

export async function openLedger(dataDirectory: string): Promise<Ledger> {
  return readLedger(await openSqliteStore({ path: join(dataDirectory, 'weir.sqlite'), readOnly: true }));
}

/** The ledger of an open store. */
export function readLedger(store: Store): Ledger {
  const all = async (): Promise<readonly CallEntry[]> => {
    const entries: CallEntry[] = [];
    for (let before: string | undefined; ; before = entries.at(-1)?.callId) {
      const page = await store.listEntries({ limit: pageEntries, ...(before === undefined ? {} : { before }) });
      entries.push(...page);
      if (page.length < pageEntries) return entries;
    }
  };
  const row = async (callId: string, limitMs?: number): Promise<CallEntry> => {
    const found = await eventually(
      () => store.findEntry(callId),
      (entry) => entry !== undefined,
      limitMs,
    );
    if (found === undefined) throw new Error(`call ${callId} has no row`);
    return found;
  };
  const rows = (callId: string, count: number): Promise<readonly CallEntry[]> =>
    eventually(
      () => store.listCallRows(callId),
      (found) => found.length >= count,
    );
  return { store, all, row, rows, close: () => store.close() };
}
