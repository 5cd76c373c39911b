import type { ToolUsage } from '../../inference/usage.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import type { PriceBook } from '../rating/rating.ts';

/** The row of what tools of the gateway did for a call: it names no upstream's answer and is charged by use. */
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
