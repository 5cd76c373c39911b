import type { CallEntry } from '../ledger/call-entry.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { buildReceipt } from '../receipts/build-receipt.ts';
import { callIdOf } from '../receipts/call-id-of.ts';
import { sortRows } from '../receipts/find-receipt.ts';
import type { Receipt } from '../receipts/receipt.ts';
import type { CallFactsStore, CallTransaction, UserScope } from './call-facts-store.ts';

/** Everything that the books know about a call. */
export type CallDetail = {
  /** The rows of the call and its parts, each with its attempts, timings, counts, lines, notes and end. */
  readonly receipt: Receipt;
  /** The ledger rows behind the receipt. They have what concerns only the operator, such as names of credentials. */
  readonly rows: readonly [CallEntry, ...CallEntry[]];
  /** Where its cost was posted. Empty if it cost nothing. */
  readonly transactions: readonly CallTransaction[];
};

type Parts = Pick<LedgerStore, 'listCallRows' | 'findReplyOwner'> & Pick<CallFactsStore, 'listCallTransactions'>;

/**
 * Finds a booked call by any id that `weir receipt` takes: its own, or the id of its reply or video task, made by Weir
 * or by the vendor. Undefined if there is no such call, or if it is not in the scope.
 */
export async function findCall(store: Parts, id: string, scope: UserScope): Promise<CallDetail | undefined> {
  const callId = callIdOf(id);
  const [call, ...parts] = sortRows(callId, await store.listCallRows(callId));
  if (call === undefined) {
    const owner = await store.findReplyOwner(id);
    // A row that answered is found by its own id, which is never the id of a reply.
    if (owner === undefined || owner.callId === callId) return undefined;
    return isVisible(owner.userName, scope) ? await findCall(store, owner.callId, scope) : undefined;
  }
  if (!isVisible(call.userName, scope)) return undefined;
  const rows = [call, ...parts] as const;
  return {
    receipt: buildReceipt(rows, true),
    rows,
    transactions: await store.listCallTransactions(rows.map((row) => row.callId)),
  };
}

function isVisible(userName: string, scope: UserScope): boolean {
  return scope === 'all' || scope.includes(userName);
}
