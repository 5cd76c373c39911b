import { estimateTokens } from '../../inference/count-text-characters.ts';
import { countInput, partsOf, tokensOfSide } from '../../inference/meters.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import type { Charge, Dispute, DisputedFigure } from '../ledger/call-entry.ts';
import type { MeteredCall } from './meter-call.ts';

/** The most that one call can come to by its own request. */
export type CallBound = {
  readonly most: Usage;
  /** What that costs: what is held for the call, or would be. */
  readonly nanoUsd: bigint;
  /** What is believed of counts that are dearer together than that; absent: the bounds themselves. */
  readonly instead?: Usage;
  /** False where a count beyond `most` is unlikely and proves nothing: the vendor's own tools may have read and written more. */
  readonly provesCounts: boolean;
};

/** What is known of a call when its usage is judged. */
export type JudgedCall = {
  readonly report: UsageReport | undefined;
  readonly inputCharacters: number;
  readonly outputCharacters: number;
};

/** Counts with their price. */
export type RatedUsage = { readonly metered: MeteredCall; readonly charge: Charge };

/** Words of a server's own that stand before every conversation and are not in its request: models with large ones are served. */
const ownWordsTokens = 8192;
/** A count up to so many times its bound comes from an upstream that keeps to it loosely. One far beyond it says nothing at all. */
const looseness = 2;

/**
 * Holds what an upstream reported against what its call can have used. A figure that cannot be true is replaced: by its bound where it lies a little beyond, else by the estimate of what was
 * seen. What is charged then is at most what the whole call was bound to cost, and the entry says which figures are disputed. Pure.
 * @param rate prices counts; called only where something has to be replaced
 */
export function disputeUsage(
  { metered, charge }: RatedUsage,
  call: JudgedCall,
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

/** A report with a count that is none. The count itself stands in what the vendor wrote. */
function findMalformed(report: UsageReport | undefined): DisputedFigure[] {
  return report === undefined || report.trustworthy ? [] : [{ count: 'usage', reason: 'malformed' }];
}

function replaceCounts(usage: Usage, call: JudgedCall, most: Usage, figures: DisputedFigure[]): Usage {
  let believed = usage;
  const { outputTokens = 0 } = usage;
  const outputMost = most.outputTokens ?? 0;
  if (outputTokens > outputMost) {
    figures.push({ count: 'outputTokens', reason: 'beyond-bound', reported: outputTokens, most: outputMost });
    believed = withOutput(believed, replace(outputTokens, outputMost, estimateTokens(call.outputCharacters)));
  }
  const input = countInput(usage);
  const inputMost = countInput(most);
  if (input > inputMost + ownWordsTokens) {
    figures.push({ count: 'inputTokens', reason: 'beyond-bound', reported: input, most: inputMost });
    believed = withInput(believed, replace(input, inputMost, estimateTokens(call.inputCharacters)));
  }
  return believed;
}

function replace(reported: number, most: number, estimate: number): number {
  return reported <= looseness * most ? most : Math.min(most, estimate);
}

/** The same with no count beyond its bound: then its price is within that of the bound. */
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
  // Counts within their bounds are dearer than these only by what the reply says of its tier and its place.
  const { serviceTier: _tier, replyParameters: _parameters, ...plain } = limited;
  return { metered: plain, charge: rate(plain) };
}

const toFigure = (nanoUsd: bigint): number => Number(nanoUsd);

type Counts = { -readonly [Name in keyof Usage]: Usage[Name] };

function limitCounts(usage: Usage, most: Usage): Usage {
  const limited: Counts = countInput(usage) > countInput(most) ? { ...withInput(usage, countInput(most)) } : { ...usage };
  for (const name of Object.keys(limited) as (keyof Usage)[]) {
    // Characters are counted here and reported by nobody.
    if (inputNames.has(name) || name === 'inputCharacters') continue;
    const count = limited[name];
    const bound = boundOf(name, most);
    if (count !== undefined && count > bound) limited[name] = bound;
  }
  return limited;
}

/** Counts of input are limited together, and what is a part of one by that one. */
const inputNames: ReadonlySet<keyof Usage> = new Set(tokensOfSide.input);
const outputParts: ReadonlySet<keyof Usage> = new Set(partsOf('outputTokens'));

function boundOf(name: keyof Usage, most: Usage): number {
  return (outputParts.has(name) ? most.outputTokens : most[name]) ?? 0;
}

/** So much input, none of it cached: a discount that rests on an impossible figure is none. */
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
