import { estimateTokens } from '../../inference/count-text-characters.ts';
import { countInput, findStandalone, inputMeters } from '../../inference/meters.ts';
import type { PricingParameters, Usage, UsageReport } from '../../inference/usage.ts';
import type { CallEnd, Dispute } from '../ledger/call-entry.ts';

export type CallMeasurement = {
  readonly end: CallEnd;
  /** What the upstream reported; for a stream, everything merged. Absent when it reported nothing. */
  readonly report?: UsageReport | undefined;
  /** False when the reply ended, or was ended, before its terminal event: then the report is what was known so far. Default true. */
  readonly complete?: boolean;
  /** Usage seen earlier than the report, such as the last journalled progress. */
  readonly progressUsage?: Usage;
  /** Characters of text in the request, and of text delivered so far: the basis of estimates. */
  readonly inputCharacters: number;
  readonly outputCharacters: number;
};

export type MeteredCall = {
  readonly usage: Usage;
  readonly rawUsage?: unknown;
  /** True when any count is an estimate rather than the upstream's report. */
  readonly estimated: boolean;
  readonly serviceTier?: string;
  /** What the reply says that a price may depend on. */
  readonly replyParameters?: PricingParameters;
  /** Why some of what the upstream reported is not counted. */
  readonly disputed?: Dispute;
};

/**
 * Turns what is known at the end of a call into the counts that are charged. The rules are a table in docs/reference/usage.md: a final
 * report is exact and its silent fields stay unknown, but for output that was delivered and is not in its count; without one, input is what was reported so far or else estimated, and output is
 * the larger of what was reported and what was delivered. What is counted in characters, sound, video or pictures is never made up to tokens. A failed
 * call used nothing.
 */
export function meterCall(call: CallMeasurement): MeteredCall {
  if (call.end === 'failed') return { usage: {}, estimated: false };
  const { report, complete = true } = call;
  const seen = report?.usage ?? call.progressUsage ?? {};
  // Those counts are of what was asked for, known in full however the call ends, and tokens are no part of them.
  if (findStandalone(seen) !== undefined)
    return report === undefined ? { usage: seen, estimated: false } : withEvidence(seen, !report.trustworthy, report);
  if (report === undefined) return { usage: estimateMissing(call.progressUsage ?? {}, call), estimated: true };
  const countsOutput = report.usage.outputTokens !== undefined && report.outputGoesOn === undefined;
  const isWhole = complete && (countsOutput || call.outputCharacters === 0);
  if (isWhole && report.trustworthy && hasCounts(report.usage)) return withEvidence(report.usage, false, report);
  const known = { ...call.progressUsage, ...report.usage };
  // A final output count stands even when another count of the report was malformed. A malformed count was left out of the report:
  // charging nothing for it would make a broken upstream a free one.
  const outputIsFinal = complete && countsOutput;
  return withEvidence(outputIsFinal ? withInput(known, call) : estimateMissing(known, call), true, report);
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

/** Whether a report says anything about tokens; an empty object is as good as no report. */
function hasCounts(usage: Usage): boolean {
  return hasInput(usage) || usage.outputTokens !== undefined;
}

function hasInput(usage: Usage): boolean {
  return inputMeters.some((name) => usage[name] !== undefined);
}

function estimateMissing(known: Usage, call: CallMeasurement): Usage {
  const outputTokens = Math.max(known.outputTokens ?? 0, estimateTokens(call.outputCharacters));
  return { ...withInput(known, call), outputTokens };
}

/** Fills in the uncached input if it is unknown. Where only cache counts are known, they are taken off the estimate of the whole. */
function withInput(known: Usage, call: CallMeasurement): Usage {
  if (known.inputTokens !== undefined) return known;
  return { ...known, inputTokens: Math.max(0, estimateTokens(call.inputCharacters) - countInput(known)) };
}
