import { setTimeout as delay } from 'node:timers/promises';

import type { Clock } from '../../platform/clock.ts';
import { timeOfId } from '../../platform/ids.ts';
import type { Journal, JournalView } from '../journal/journal.ts';
import type { CallEntry } from '../ledger/call-entry.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { rowIdsOf } from '../ledger/row-ids.ts';
import { buildReceipt } from './build-receipt.ts';
import type { Receipt } from './receipt.ts';

/** The result for a call. Undefined: it is unknown, or it belongs to another user. */
export type FoundReceipt = { readonly state: 'in-progress' } | { readonly state: 'ended'; readonly receipt: Receipt } | undefined;

export type ReceiptParts = {
  readonly store: Pick<LedgerStore, 'listCallRows'>;
  readonly journal: JournalView & Pick<Journal, 'pendingEntries'>;
  readonly clock: Pick<Clock, 'nowMs'>;
};

/** Up to this number, the waiting entries may be searched: this takes some milliseconds. */
const walkedEntriesMax = 200_000;

/**
 * Another process may have answered the call and ship it within its interval: a missing call of the last seconds is
 * queried again.
 */
const recentMs = 10_000;
const waitsMs = [50, 150, 400] as const;

/** Finds receipts, also of calls that are not in the ledger yet. */
export type ReceiptFinder = {
  /**
   * @param userName the required owner of the call
   * @param isUnderWay whether further rows of the call may follow
   * @throws the store's error, and Error if too many entries wait for the store
   */
  readonly find: (callId: string, userName: string, isUnderWay: boolean, signal: AbortSignal) => Promise<FoundReceipt>;
};

export function createReceiptFinder({ store, journal, clock }: ReceiptParts): ReceiptFinder {
  const look = async (callId: string, userName: string, isUnderWay: boolean): Promise<FoundReceipt> => {
    if (journal.pendingEntries() > walkedEntriesMax) throw new Error('too many entries wait for the ledger');
    // The journal first: an entry that leaves it in the meantime is in the store by then.
    const opening = journal.findOpen(callId);
    const pending = journal.pendingRows(callId);
    const stored = await store.listCallRows(callId);
    const booked = new Set(stored.map((row) => row.callId));
    const waiting = pending.filter((row) => !booked.has(row.callId));
    const rows = sortRows(callId, [...stored, ...waiting]);
    const owner = rows[0]?.userName ?? opening?.userName;
    if (owner !== userName) return undefined;
    if (rows[0] === undefined || isUnderWay) return { state: 'in-progress' };
    return { state: 'ended', receipt: buildReceipt([rows[0], ...rows.slice(1)], waiting.length === 0) };
  };
  return {
    find: async (callId, userName, isUnderWay, signal) => {
      for (const waitMs of waitsMs) {
        const found = await look(callId, userName, isUnderWay);
        const madeAtMs = timeOfId(callId);
        if (found !== undefined || madeAtMs === undefined || Math.abs(clock.nowMs() - madeAtMs) > recentMs) return found;
        await delay(waitMs, undefined, { signal });
      }
      return await look(callId, userName, isUnderWay);
    },
  };
}

/**
 * The rows of a call in order of creation; empty if its own row is missing. Rows that only look like parts are
 * omitted.
 */
export function sortRows(callId: string, rows: readonly CallEntry[]): CallEntry[] {
  const order = new Map(rowIdsOf(callId).map((id, place) => [id, place]));
  const call = rows.find((row) => row.callId === callId && row.parentCallId === undefined);
  if (call === undefined) return [];
  const parts = rows.filter((row) => row.parentCallId === callId && row.userName === call.userName);
  const place = ({ callId: id }: CallEntry): number => order.get(id) ?? order.size;
  return [call, ...parts.toSorted((one, other) => place(one) - place(other))];
}
