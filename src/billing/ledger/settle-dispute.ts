import type { Usage } from '../../inference/usage.ts';
import { recomputeAmount } from '../rating/recompute-amount.ts';
import type { CallEntry, Charge, Settlement } from './call-entry.ts';
import { settlementRowId } from './row-ids.ts';

/** An operator's decision about a disputed row. */
export type Decision = Pick<Settlement, 'decision' | 'after' | 'by' | 'atMs'> & { readonly note?: string | undefined };

/**
 * The row that settles a disputed row. It has the difference in counts and in money, so that a sum of rows includes the
 * decision once: another settlement of the same row has the same id, and the ledger accepts the first. It has the time
 * and the prices of the call.
 * @param rate prices counts as the disputed row was priced
 */
export function settleDispute(disputed: CallEntry, decision: Decision, rate: (usage: Usage) => Charge): CallEntry {
  const { after, note, ...decided } = decision;
  const before = disputed.usage;
  const {
    failedAttempts: _attempts,
    heldNanoUsd: _held,
    heldPots: _pots,
    translation: _translation,
    disputed: _disputed,
    disconnect: _disconnect,
    rawUsage: _raw,
    replyId: _reply,
    replyNotes: _notes,
    firstByteMs: _first,
    ...row
  } = disputed;
  return {
    ...row,
    callId: settlementRowId(disputed.callId),
    parentCallId: disputed.parentCallId ?? disputed.callId,
    usage: subtractUsage(after, before),
    estimated: false,
    durationMs: 0,
    settlement: { of: disputed.callId, before, after, ...decided, ...(note === undefined ? {} : { note }) },
    charge: chargeDifference(disputed.charge, rate(after)),
  };
}

/** The difference of two charges: the lines of the second, and those of the first as reversed lines. */
export function chargeDifference(before: Charge, after: Charge): Charge {
  const lines = [...after.lines, ...before.lines.map((line) => ({ ...line, reversed: true as const }))];
  const { priceId = before.priceId } = after;
  return { amountNanoUsd: recomputeAmount(lines), lines, ...(priceId === undefined ? {} : { priceId }) };
}

/** Unknown counts are treated as 0. */
function subtractUsage(after: Usage, before: Usage): Usage {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]) as Set<keyof Usage>;
  return Object.fromEntries([...names].map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
}
