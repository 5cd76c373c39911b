import type { DisconnectEvidence } from '../../../billing/ledger/call-entry.ts';
import type { Outcome } from '../exchange/exchange-context.ts';
import type { Departure } from './departure.ts';

/** How a call ended whose client had left: that is what is told of it, however its upstream ended. One that failed is free all the same. */
export function endLeft(outcome: Outcome): Outcome {
  const { error: _error, ...others } = outcome;
  return outcome.end === 'failed' ? outcome : { ...others, end: 'client-left' };
}

/** Whether the upstream's own final usage was read. */
export function reportsUsage({ complete, report }: Outcome): boolean {
  return complete && report?.usageReport !== undefined;
}

/** The evidence of what was done when a client left. @param usageReported whether the upstream's own final usage was read @param endedAfterMs when its upstream was stopped or had ended, in milliseconds from acceptance */
export function describeLeaving(
  { departure, afterMs }: { readonly departure: Departure; readonly afterMs: number },
  usageReported: boolean,
  endedAfterMs: number,
): DisconnectEvidence {
  return {
    policy: departure.policy,
    leftAfterMs: afterMs,
    deliveredCharacters: departure.deliveredCharacters,
    upstreamEndedAfterMs: endedAfterMs,
    usageReported,
  };
}
