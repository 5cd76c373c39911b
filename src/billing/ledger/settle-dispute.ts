import type { Usage } from '../../inference/usage.ts';
import { recomputeAmount } from '../rating/recompute-amount.ts';
import type { CallEntry, Charge, Settlement } from './call-entry.ts';
import { settlementRowId } from './row-ids.ts';

/** What an operator decides of a disputed row. */
export type Decision = Pick<Settlement, 'decision' | 'after' | 'by' | 'atMs'> & { readonly note?: string | undefined };

/**
 * The row that settles a disputed one. It has the difference, in counts and in money, so that whatever adds up rows has what was decided, once: a row that settles the same has the same id, and
 * the ledger takes the first. It belongs to the moment and the prices of the call.
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

/** What is charged when one charge takes the place of another: its lines, and those of the other taken back. */
export function chargeDifference(before: Charge, after: Charge): Charge {
  const lines = [...after.lines, ...before.lines.map((line) => ({ ...line, reversed: true as const }))];
  const { priceId = before.priceId } = after;
  return { amountNanoUsd: recomputeAmount(lines), lines, ...(priceId === undefined ? {} : { priceId }) };
}

/** Counts that were not known count as none. */
function subtractUsage(after: Usage, before: Usage): Usage {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]) as Set<keyof Usage>;
  return Object.fromEntries([...names].map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
}
