import type { CallEntry } from './call-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/** Rows per query: some megabytes at most. */
const pageRows = 500;

/**
 * The rows accepted in `[startMs, endMs)`, oldest first, read page by page so that a month of calls needs no more
 * memory than a page.
 */
export async function* readEntries(
  store: Pick<LedgerStore, 'listEntriesBetween'>,
  span: { readonly startMs: number; readonly endMs: number },
): AsyncGenerator<CallEntry, void, undefined> {
  for (let after: Pick<CallEntry, 'acceptedAtMs' | 'callId'> | undefined; ;) {
    const page = await store.listEntriesBetween({ ...span, limit: pageRows, ...(after === undefined ? {} : { after }) });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = { acceptedAtMs: last.acceptedAtMs, callId: last.callId };
  }
}
