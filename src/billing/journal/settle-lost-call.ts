import type { Usage } from '../../inference/usage.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { meterCall } from '../metering/meter-call.ts';
import { settleTools } from '../metering/settle-tools.ts';
import type { PriceBook } from '../rating/rating.ts';

/** The last HEAD record of a call. `elapsedMs` counts from the call's opening on the monotonic clock. */
export type RecordedHead = { readonly status: number; readonly upstreamRequestId?: string; readonly elapsedMs: number };

/** All PROGRESS records of a call, merged: the last known count of each meter. */
export type RecordedProgress = { readonly usage?: Usage; readonly outputCharacters: number; readonly elapsedMs: number };

/** Makes the final entry of a call whose process died while it ran. */
export type LostCallSettler = (opening: CallOpening, head: RecordedHead | undefined, progress: RecordedProgress | undefined) => CallEntry;

/**
 * The rules for lost calls: without a status line from the upstream the call costs nothing; an error status is a failed call; otherwise what was
 * used so far is charged, counted where the upstream had not reported yet. The entry carries the version of the book that
 * priced it, which is another than the one pinned at admission when the prices changed over the restart.
 */
export function createLostCallSettler({ priceBook }: { readonly priceBook: PriceBook }): LostCallSettler {
  return (opening, head, progress) => {
    // What tools did is opened when they have done it.
    if (opening.toolUsage !== undefined)
      return settleTools({ ...opening, priceVersion: priceBook.version }, opening.toolUsage, priceBook, 0);
    const known = {
      ...opening,
      durationMs: Math.max(0, Math.round(progress?.elapsedMs ?? head?.elapsedMs ?? 0)),
      ...(head !== undefined && { upstreamStatus: head.status }),
      ...(head?.upstreamRequestId !== undefined && { upstreamRequestId: head.upstreamRequestId }),
    };
    const answered = head !== undefined && head.status < 400;
    if (!answered) {
      const end = head === undefined ? 'lost' : 'failed';
      return { ...known, end, usage: {}, estimated: false, charge: { amountNanoUsd: 0n, lines: [] } };
    }
    const metered = meterCall({
      end: 'lost',
      ...(progress?.usage !== undefined && { progressUsage: progress.usage }),
      inputCharacters: opening.inputCharacters,
      outputCharacters: progress?.outputCharacters ?? 0,
    });
    const charge = priceBook.rate({ ...opening, usage: metered.usage });
    return { ...known, ...metered, end: 'lost', priceVersion: priceBook.version, charge };
  };
}
