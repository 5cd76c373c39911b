import type { PreparedCall } from '../incoming-call.ts';
import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import { measureInput } from '../../../../inference/measure-input.ts';
import { boundChat } from '../chat-credit.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { boundToolCall } from './bound-tools.ts';
import { sumToolUsage, type ToolCall } from './run-tools.ts';

/**
 * Whether what a call has cost until now is as much as one may cost.
 * @param toolsNanoUsd what its tools have booked in rows of their own
 */
export function isTooDear(costMaxNanoUsd: bigint | undefined, entries: readonly CallEntry[], toolsNanoUsd: bigint): boolean {
  return costMaxNanoUsd !== undefined && entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, toolsNanoUsd) >= costMaxNanoUsd;
}

/** What the model is to be asked next. */
type NextRound = { readonly request: InferenceRequest; readonly facts: CallFacts; readonly targets: readonly Target[] };

/** Whether the credit of a call does not cover another round, which reads all that came before. */
export async function lacksCredit(known: PreparedCall, { request, facts, targets }: NextRound): Promise<boolean> {
  const { credit } = known;
  if (credit === undefined) return false;
  const plan = { ...credit.plan, input: measureInput(request) };
  const refused = await credit.cover(boundChat({ ...known, facts, targets, framing: 'sse' }, plan));
  if (refused === undefined) credit.plan = plan;
  return refused !== undefined;
}

/** Whether it does not cover what the model has its tools do next. */
export async function lacksToolCredit({ credit, settings, caller }: PreparedCall, calls: readonly ToolCall[]): Promise<boolean> {
  if (credit === undefined) return false;
  const usage = sumToolUsage(calls.map(boundToolCall));
  const { amountNanoUsd } = settings.routing.priceBook.rateTools(usage, { userName: caller.userName, keyId: caller.id });
  return (await credit.cover(amountNanoUsd)) !== undefined;
}
