import type { Usage } from '../../inference/usage.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { meterCall } from '../metering/meter-call.ts';
import { settleTools } from '../metering/settle-tools.ts';
import type { PriceBook } from '../rating/rating.ts';

/** The last HEAD record of a call. `elapsedMs` counts from the call's opening on the monotonic clock. */
export type RecordedHead = { readonly status: number; readonly upstreamRequestId?: string; readonly elapsedMs: number };

/** All PROGRESS records of a call, merged: the last known count of each meter. */
export type RecordedProgress = { readonly usage?: Usage; readonly outputCharacters: number; readonly elapsedMs: number };

/** Creates the final entry of a call whose process died while it ran. */
export type LostCallSettler = (opening: CallOpening, head: RecordedHead | undefined, progress: RecordedProgress | undefined) => CallEntry;

/**
 * The rules for lost calls. Without a status line of the upstream the call costs nothing; an error status is a failed
 * call; otherwise the usage so far is charged, and counted by us if the upstream had not reported it yet. The entry
 * names the version of the book that priced it, which differs from the one pinned at admission if the prices changed at
 * the restart.
 */
export function createLostCallSettler({ priceBook }: { readonly priceBook: PriceBook }): LostCallSettler {
  return (opening, head, progress) => {
    // The row of tools is opened after they have run.
    if (opening.toolUsage !== undefined)
      return settleTools({ ...opening, priceVersion: priceBook.version }, opening.toolUsage, priceBook, 0);
    const common = {
      ...opening,
      durationMs: Math.max(0, Math.round(progress?.elapsedMs ?? head?.elapsedMs ?? 0)),
      ...(head !== undefined && { upstreamStatus: head.status }),
      ...(head?.upstreamRequestId !== undefined && { upstreamRequestId: head.upstreamRequestId }),
    };
    const answered = head !== undefined && head.status < 400;
    if (!answered) {
      const end = head === undefined ? 'lost' : 'failed';
      return { ...common, end, usage: {}, estimated: false, charge: { amountNanoUsd: 0n, lines: [] } };
    }
    const metered = meterCall({
      end: 'lost',
      ...(progress?.usage !== undefined && { progressUsage: progress.usage }),
      inputCharacters: opening.inputCharacters,
      outputCharacters: progress?.outputCharacters ?? 0,
    });
    const charge = priceBook.rate({ ...opening, usage: metered.usage });
    return { ...common, ...metered, end: 'lost', priceVersion: priceBook.version, charge };
  };
}
