import type { CallEntry } from '../../../billing/ledger/call-entry.ts';

/** What becomes of an answer: it is given again, the key is given back, or neither is possible. */
export type Verdict = 'keep' | 'release' | 'spend';

/** How a request with an idempotency key ended. */
export type EndedReply = {
  readonly status: number;
  /** The reply ended without an end: its client cannot take it for a whole one. */
  readonly isBroken: boolean;
  /** The call in the books; undefined for what is in none. */
  readonly entry: Pick<CallEntry, 'end' | 'upstreamStatus' | 'charge'> | undefined;
};

/** Refusals that say something of the moment or of the caller, and nothing of the request. */
const passing = new Set([401, 402, 403, 407, 408, 409, 425, 429]);

/**
 * Decides what becomes of an answer. Whatever cost something is never done again under its key. What cost nothing is kept where another try would come to the same: an answer
 * without an error, or an upstream's refusal of the request itself. After anything else the client may try again with its key.
 */
export function judgeReply({ status, isBroken, entry }: EndedReply): Verdict {
  const isSpent = entry !== undefined && (entry.end !== 'failed' || entry.charge.amountNanoUsd > 0n);
  if (isBroken) return isSpent || (entry === undefined && status < 400) ? 'spend' : 'release';
  if (isSpent) return 'keep';
  // Events that only said how it failed, under a status that had been sent before.
  if (status < 400) return entry === undefined ? 'keep' : 'release';
  return isFinal(status) && entry?.upstreamStatus !== undefined && isFinal(entry.upstreamStatus) ? 'keep' : 'release';
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !passing.has(status);
}
