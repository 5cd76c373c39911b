import type { PreparedCall } from '../incoming-call.ts';
import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { BuiltInToolKind, InferenceRequest } from '../../../../inference/inference-request.ts';
import { measureInput } from '../../../../inference/measure-input.ts';
import { boundChat } from '../chat-credit.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { type ToolCall, sumToolUsage } from './run-tools.ts';
import type { ToolUsage } from '../../../../inference/usage.ts';
import { pagesPerCallMax } from '../../../../tools/url-context/create-url-context.ts';
import { searchesPerCallMax } from '../../../../tools/web-search/read-queries.ts';

/**
 * Whether the cost of a call so far has reached its limit.
 * @param toolsNanoUsd the amount that its tools have booked in rows of their own
 */
export function isTooExpensive(costMaxNanoUsd: bigint | undefined, entries: readonly CallEntry[], toolsNanoUsd: bigint): boolean {
  return costMaxNanoUsd !== undefined && entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, toolsNanoUsd) >= costMaxNanoUsd;
}

/** The next request to the model. */
type NextRound = { readonly request: InferenceRequest; readonly facts: CallFacts; readonly targets: readonly Target[] };

/** Whether the credit of a call does not cover another round, which reads everything before it. */
export async function lacksCredit(prepared: PreparedCall, { request, facts, targets }: NextRound): Promise<boolean> {
  const { credit } = prepared;
  if (credit === undefined) return false;
  const plan = { ...credit.plan, input: measureInput(request) };
  const refused = await credit.cover(boundChat({ ...prepared, facts, targets, framing: 'sse' }, plan));
  if (refused === undefined) credit.plan = plan;
  return refused !== undefined;
}

/** Whether the credit does not cover the next tool calls of the model. */
export async function lacksToolCredit({ credit, settings, caller }: PreparedCall, calls: readonly ToolCall[]): Promise<boolean> {
  if (credit === undefined) return false;
  const usage = sumToolUsage(calls.map(boundToolCall));
  const { amountNanoUsd } = settings.routing.priceBook.rateTools(usage, { userName: caller.userName, keyId: caller.id });
  return (await credit.cover(amountNanoUsd)) !== undefined;
}

/** Vendors refuse smaller limits, and a shorter answer is useless. */
const outputTokensMin = 16;

/**
 * Applies the client's limit, which is one of the whole reply: the output of earlier rounds counts. Undefined if too
 * little is left for another round.
 * @param entries the rows of the rounds so far; rows of tools may be among them
 */
export function limitOutput(request: InferenceRequest, entries: readonly CallEntry[]): InferenceRequest | undefined {
  const { outputTokensMax } = request;
  if (outputTokensMax === undefined || entries.length === 0) return request;
  const left = outputTokensMax - entries.reduce((sum, { usage }) => sum + (usage.outputTokens ?? 0), 0);
  return left < outputTokensMin ? undefined : { ...request, outputTokensMax: left };
}

/** Each image is a call with a hold of its own. */
const meters: Readonly<Record<BuiltInToolKind, keyof ToolUsage | undefined>> = {
  'web-search': 'webSearches',
  'url-context': 'pagesRead',
  'file-search': 'fileSearches',
  'code-execution': 'codeExecutions',
  'image-generation': undefined,
};

const usesPerCall: Readonly<Record<BuiltInToolKind, number>> = {
  'web-search': searchesPerCallMax,
  'url-context': pagesPerCallMax,
  'file-search': 1,
  'code-execution': 1,
  'image-generation': 1,
};

/** The most uses of one call of a tool: one call may search for several things, and read several pages. */
function boundToolCall({ tool, arguments: args }: Pick<ToolCall, 'tool' | 'arguments'>): ToolUsage {
  const { kind } = tool;
  const meter = meters[kind];
  return meter === undefined ? {} : { [meter]: usesPerCall[kind] === 1 ? 1 : tool.readInput(args).length };
}

/** The most uses of this many calls if all were of one kind: one alternative for each kind. */
export function boundToolCalls(kinds: readonly BuiltInToolKind[], calls: number): readonly ToolUsage[] {
  return kinds.flatMap((kind) => {
    const meter = meters[kind];
    return meter === undefined ? [] : [{ [meter]: usesPerCall[kind] * calls }];
  });
}
