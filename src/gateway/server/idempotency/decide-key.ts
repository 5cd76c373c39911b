import type { CallEntry } from '../../../billing/ledger/call-entry.ts';

/** The key after an answer: it repeats the answer, it may be used again, or neither is possible. */
export type KeyDisposition = 'keep' | 'release' | 'spend';

/** The end of a request with an idempotency key. */
export type EndedReply = {
  readonly status: number;
  /** The reply was cut off: its client cannot mistake it for a whole one. */
  readonly isBroken: boolean;
  /** The call in the books. Undefined if there is none. */
  readonly entry: Pick<CallEntry, 'end' | 'upstreamStatus' | 'charge'> | undefined;
};

/** Refusals that depend on the moment or the caller, and not on the request. */
const passing = new Set([401, 402, 403, 407, 408, 409, 425, 429]);

/**
 * Decides what a key does after its request. A request that cost something is never repeated. A request that cost
 * nothing is kept if a repetition would have the same result: an answer without an error, or an upstream's refusal of
 * the request itself. After any other end the client may use its key again.
 */
export function decideKey({ status, isBroken, entry }: EndedReply): KeyDisposition {
  const isSpent = entry !== undefined && (entry.end !== 'failed' || entry.charge.amountNanoUsd > 0n);
  if (isBroken) return isSpent || (entry === undefined && status < 400) ? 'spend' : 'release';
  if (isSpent) return 'keep';
  // The status was sent before, and the events only reported the failure.
  if (status < 400) return entry === undefined ? 'keep' : 'release';
  return isFinal(status) && entry?.upstreamStatus !== undefined && isFinal(entry.upstreamStatus) ? 'keep' : 'release';
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !passing.has(status);
}
