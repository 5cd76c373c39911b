import type { ToolUsage } from '../../inference/usage.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import type { PriceBook } from '../rating/rating.ts';

/** The row for the use of a gateway's own tools in a call. It has no answer of an upstream and is charged by use. */
export function settleTools(opening: CallOpening, toolUsage: ToolUsage, priceBook: PriceBook, durationMs: number): CallEntry {
  return {
    ...opening,
    toolUsage,
    end: 'finished',
    usage: {},
    estimated: false,
    durationMs,
    charge: priceBook.rateTools(toolUsage, opening),
  };
}
