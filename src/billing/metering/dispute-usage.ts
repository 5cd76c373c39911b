import { estimateTokens } from '../../inference/count-text-characters.ts';
import { countInput, partsOf, tokensOfSide } from '../../inference/meters.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import type { Charge, Dispute, DisputedFigure } from '../ledger/call-entry.ts';
import type { MeteredCall } from './meter-call.ts';

/** The most that one call can use according to its own request. */
export type CallBound = {
  readonly most: Usage;
  /** The cost of that: the hold of the call, or the hold that it would have. */
  readonly nanoUsd: bigint;
  /** The counts that replace those that together cost more; absent: the bounds themselves. */
  readonly instead?: Usage;
  /**
   * False if a count beyond `most` is unlikely but possible: the vendor's own tools or compactions may have read and
   * written more.
   */
  readonly provesCounts: boolean;
};

/** The facts about a call whose usage is checked. */
export type CheckedCall = {
  readonly report: UsageReport | undefined;
  readonly inputCharacters: number;
  readonly outputCharacters: number;
};

/** Counts with their price. */
export type RatedUsage = { readonly metered: MeteredCall; readonly charge: Charge };

/**
 * Tokens of a server's own preamble before every conversation, which is not in the request: models with large ones
 * exist.
 */
const preambleTokensMax = 8192;
/** A count up to this multiple of its bound comes from an inexact upstream. A larger one is meaningless. */
const looseness = 2;

/**
 * Compares the report of an upstream with what its call can have used. An impossible figure is replaced: by its bound
 * if it is slightly larger, otherwise by the estimate from the delivered content. The charge is then at most the
 * highest cost of the whole call, and the entry names the disputed figures. Pure.
 * @param rate prices counts; called only if a figure must be replaced
 */
export function disputeUsage(
  { metered, charge }: RatedUsage,
  call: CheckedCall,
  bound: CallBound,
  rate: (metered: MeteredCall) => Charge,
): RatedUsage {
  const { usage } = metered;
  const figures = findMalformed(call.report);
  const believed = bound.provesCounts ? replaceCounts(usage, call, bound.most, figures) : usage;
  let rated =
    believed === usage ? { metered, charge } : { metered: { ...metered, usage: believed }, charge: rate({ ...metered, usage: believed }) };
  if (rated.charge.amountNanoUsd > bound.nanoUsd) rated = rateWithin(rated, bound, rate, figures);
  if (figures.length === 0) return rated;
  const disputed: Dispute = { figures, reported: call.report?.usage ?? {} };
  const estimated = metered.estimated || rated.metered.usage !== usage;
  return { metered: { ...rated.metered, estimated, disputed }, charge: rated.charge };
}

/** A report with a malformed count. The count itself is in the raw usage. */
function findMalformed(report: UsageReport | undefined): DisputedFigure[] {
  return report === undefined || report.trustworthy ? [] : [{ count: 'usage', reason: 'malformed' }];
}

function replaceCounts(usage: Usage, call: CheckedCall, most: Usage, figures: DisputedFigure[]): Usage {
  let believed = usage;
  const { outputTokens = 0 } = usage;
  const outputMost = most.outputTokens ?? 0;
  if (outputTokens > outputMost) {
    figures.push({ count: 'outputTokens', reason: 'beyond-bound', reported: outputTokens, most: outputMost });
    believed = withOutput(believed, replace(outputTokens, outputMost, estimateTokens(call.outputCharacters)));
  }
  const input = countInput(usage);
  const inputMost = countInput(most);
  if (input > inputMost + preambleTokensMax) {
    figures.push({ count: 'inputTokens', reason: 'beyond-bound', reported: input, most: inputMost });
    believed = withInput(believed, replace(input, inputMost, estimateTokens(call.inputCharacters)));
  }
  return believed;
}

function replace(reported: number, most: number, estimate: number): number {
  return reported <= looseness * most ? most : Math.min(most, estimate);
}

/** Limits every count to its bound: then the price is within that of the bound. */
function rateWithin(
  { metered, charge }: RatedUsage,
  { most, nanoUsd, instead = most }: CallBound,
  rate: (metered: MeteredCall) => Charge,
  figures: DisputedFigure[],
): RatedUsage {
  if (figures.length === 0)
    figures.push({ count: 'cost', reason: 'beyond-bound', reported: toFigure(charge.amountNanoUsd), most: toFigure(nanoUsd) });
  const usage = limitCounts(metered.usage, instead);
  const limited = { ...metered, usage };
  const within = rate(limited);
  if (within.amountNanoUsd <= nanoUsd) return { metered: limited, charge: within };
  // Counts within their bounds can only cost more because of the tier and the region in the reply.
  const { serviceTier: _tier, replyParameters: _parameters, ...plain } = limited;
  return { metered: plain, charge: rate(plain) };
}

const toFigure = (nanoUsd: bigint): number => Number(nanoUsd);

type Counts = { -readonly [Name in keyof Usage]: Usage[Name] };

function limitCounts(usage: Usage, most: Usage): Usage {
  const limited: Counts = countInput(usage) > countInput(most) ? { ...withInput(usage, countInput(most)) } : { ...usage };
  for (const name of Object.keys(limited) as (keyof Usage)[]) {
    // Characters are counted by the gateway and not reported.
    if (inputNames.has(name) || name === 'inputCharacters') continue;
    const count = limited[name];
    const bound = boundOf(name, most);
    if (count !== undefined && count > bound) limited[name] = bound;
  }
  return limited;
}

/** Counts of input are limited together, and a part by its whole. */
const inputNames: ReadonlySet<keyof Usage> = new Set(tokensOfSide.input);
const outputParts: ReadonlySet<keyof Usage> = new Set(partsOf('outputTokens'));

function boundOf(name: keyof Usage, most: Usage): number {
  return (outputParts.has(name) ? most.outputTokens : most[name]) ?? 0;
}

/** Sets the input with nothing cached: an impossible figure gives no discount. */
function withInput(usage: Usage, inputTokens: number): Usage {
  const others = Object.entries(usage).filter(([name]) => !inputNames.has(name as keyof Usage));
  return { ...Object.fromEntries(others), inputTokens };
}

function withOutput(usage: Usage, outputTokens: number): Usage {
  const { reasoningTokens, ...others } = usage;
  const parts: Counts = { ...others, outputTokens };
  for (const name of outputParts) if ((parts[name] ?? 0) > outputTokens) parts[name] = outputTokens;
  if (reasoningTokens !== undefined) parts.reasoningTokens = Math.min(reasoningTokens, outputTokens);
  return parts;
}
