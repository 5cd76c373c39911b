import { estimateTokens } from '../../inference/count-text-characters.ts';
import { countInput, findStandalone, inputMeters } from '../../inference/meters.ts';
import type { PricingParameters, Usage, UsageReport } from '../../inference/usage.ts';
import type { CallEnd, Dispute } from '../ledger/call-entry.ts';

export type CallMeasurement = {
  readonly end: CallEnd;
  /** The upstream's report; for a stream, the merged report of all events. Absent without one. */
  readonly report?: UsageReport | undefined;
  /**
   * False if the reply ended before its terminal event: then the report has only what was known so far. Default true.
   */
  readonly complete?: boolean;
  /** Usage from before the report, such as the last journalled progress. */
  readonly progressUsage?: Usage;
  /** Characters of text in the request, and of text delivered so far: the basis of estimates. */
  readonly inputCharacters: number;
  readonly outputCharacters: number;
};

export type MeteredCall = {
  readonly usage: Usage;
  readonly rawUsage?: unknown;
  /** True if any count is an estimate and not the upstream's report. */
  readonly estimated: boolean;
  readonly serviceTier?: string;
  /** Values in the reply that a price may depend on. */
  readonly replyParameters?: PricingParameters;
  /** Why parts of the upstream's report are not charged. */
  readonly disputed?: Dispute;
};

/**
 * Computes the charged counts from the facts at the end of a call. The rules are a table in docs/reference/usage.md. A
 * final report is exact and its missing fields stay unknown, except for delivered output that its count does not
 * include. Without a final report, input is the reported one or else an estimate, and output is the larger of the
 * reported and the delivered one. Calls that are counted in characters, audio, video or images are never filled up with
 * tokens. A failed call used nothing.
 */
export function meterCall(call: CallMeasurement): MeteredCall {
  if (call.end === 'failed') return { usage: {}, estimated: false };
  const { report, complete = true } = call;
  const seen = report?.usage ?? call.progressUsage ?? {};
  // These counts follow from the request and are complete however the call ends, and tokens are not a part of them.
  if (findStandalone(seen) !== undefined)
    return report === undefined ? { usage: seen, estimated: false } : withEvidence(seen, !report.trustworthy, report);
  if (report === undefined) return { usage: estimateMissing(call.progressUsage ?? {}, call), estimated: true };
  const countsOutput = report.usage.outputTokens !== undefined && report.outputGoesOn === undefined;
  const isWhole = complete && (countsOutput || call.outputCharacters === 0);
  if (isWhole && report.trustworthy && hasCounts(report.usage)) return withEvidence(report.usage, false, report);
  const usage = { ...call.progressUsage, ...report.usage };
  // A final count of output is valid even if another count of the report was malformed. A malformed count is not in the
  // report: charging nothing for it would make a broken upstream free.
  const outputIsFinal = complete && countsOutput;
  return withEvidence(outputIsFinal ? withInput(usage, call) : estimateMissing(usage, call), true, report);
}

function withEvidence(usage: Usage, estimated: boolean, { raw, serviceTier, replyParameters }: UsageReport): MeteredCall {
  const metered = { usage, rawUsage: raw, estimated };
  if (serviceTier === undefined && replyParameters === undefined) return metered;
  return {
    ...metered,
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(replyParameters === undefined ? {} : { replyParameters }),
  };
}

/** Whether a report has any count of tokens; an empty object counts as no report. */
function hasCounts(usage: Usage): boolean {
  return hasInput(usage) || usage.outputTokens !== undefined;
}

function hasInput(usage: Usage): boolean {
  return inputMeters.some((name) => usage[name] !== undefined);
}

function estimateMissing(usage: Usage, call: CallMeasurement): Usage {
  const outputTokens = Math.max(usage.outputTokens ?? 0, estimateTokens(call.outputCharacters));
  return { ...withInput(usage, call), outputTokens };
}

/**
 * Fills in the uncached input if it is unknown. If only cache counts are known, they are subtracted from the estimate
 * of the whole.
 */
function withInput(usage: Usage, call: CallMeasurement): Usage {
  if (usage.inputTokens !== undefined) return usage;
  return { ...usage, inputTokens: Math.max(0, estimateTokens(call.inputCharacters) - countInput(usage)) };
}
