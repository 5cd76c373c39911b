import type { CallEnd } from '../ledger/call-entry.ts';
import type { CellCall } from './reconciliation.ts';
import type { RowUsage, Sign } from './row-usage.ts';

/** A call of a cell, as lists show it. */
export type ListedCall = {
  readonly callId: string;
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly upstream: string;
  readonly upstreamRequestId?: string;
  readonly counts: Readonly<Partial<RowUsage['counts']>>;
  readonly end: CallEnd;
  readonly signs: readonly Sign[];
  /** Whether it alone is what the ledger has more. */
  readonly explains: boolean;
  readonly failedAttempts: number;
};

export function listedCall({ entry, counts, signs, explains }: CellCall): ListedCall {
  const { callId, acceptedAtMs, userName, upstream, upstreamRequestId, end, failedAttempts = [] } = entry;
  return {
    callId,
    acceptedAtMs,
    userName,
    upstream,
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    counts,
    end,
    signs,
    explains,
    failedAttempts: failedAttempts.length,
  };
}

/** Listed calls of one cell. */
const callsMax = 1000;

/**
 * The calls of a cell, by time: first those that explain the difference, then those with a sign, then the others. Calls
 * beyond 1,000 are left out.
 */
export async function orderCalls(calls: AsyncIterable<ListedCall>): Promise<readonly ListedCall[]> {
  const striking: ListedCall[] = [];
  const others: ListedCall[] = [];
  for await (const call of calls) {
    const list = call.explains || call.signs.length > 0 ? striking : others;
    if (list.length < callsMax) list.push(call);
  }
  return [...striking.filter(({ explains }) => explains), ...striking.filter(({ explains }) => !explains), ...others].slice(0, callsMax);
}
