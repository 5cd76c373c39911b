import type { InferenceRequest, Part, Turn } from '../../../inference/inference-request.ts';
import { fitReasoning } from '../../../inference/reasoning-scale.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';

/** The thinking settings that are sent, and an output limit that has room for them. */
export type FittedThinking = {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  readonly outputTokensMax: number;
  readonly isOn: boolean;
};

/** The output limit if neither the client nor the traits of the model set one. */
const defaultOutputTokensMax = 4096;

/** The vendor's minimum budget. */
const budgetTokensMin = 1024;

const off: JsonObject = { type: 'disabled' };

type Conversation = { readonly turns: readonly Turn[]; readonly isForced: boolean };

/**
 * Decides on thinking and on `max_tokens`, which covers thoughts and answer. Thinking is switched off if the vendor
 * would refuse it: with a forced tool, and in a tool loop whose thoughts the client no longer has.
 */
export function fitThinking(request: InferenceRequest, fit: RequestFit, { turns, isForced }: Conversation): FittedThinking {
  const { traits, notes } = fit;
  const outputTokensMax = fitOutputLimit(request, fit);
  const fitted = fitReasoning(request.reasoning, traits, notes);
  if (fitted.kind === 'default' && traits.reasoning === 'budget' && request.reasoning?.visible === true) {
    notes.dropped('reasoning', 'this model thinks only with a given amount, so there are no thoughts to show; send an effort or a budget');
  }
  if (!('effort' in fitted || 'tokens' in fitted)) {
    return fitted.kind === 'off' ? { thinking: off, outputTokensMax, isOn: false } : { outputTokensMax, isOn: traits.alwaysReasons };
  }
  if (isForced && !traits.alwaysReasons) {
    notes.adapted('reasoning', 'the vendor does not allow thinking with a forced tool; thinking is off for this reply');
    return { thinking: off, outputTokensMax, isOn: false };
  }
  const display = encodeDisplay(request, fitted.kind);
  if ('effort' in fitted) {
    const effort = fitted.effort === 'minimal' || fitted.effort === 'none' ? 'low' : fitted.effort;
    return { thinking: { type: 'adaptive', ...display }, effort, outputTokensMax, isOn: true };
  }
  if (lacksThoughts(turns)) {
    notes.dropped('reasoning', 'the tool calls in the history lack the thoughts before them, which the vendor requires; thinking is off');
    return { thinking: off, outputTokensMax, isOn: false };
  }
  return fitBudget(Math.max(budgetTokensMin, fitted.tokens), outputTokensMax, request, fit, display);
}

function fitOutputLimit({ outputTokensMax }: InferenceRequest, { traits, notes }: RequestFit): number {
  const most = traits.outputTokensMax;
  if (outputTokensMax === undefined) return most ?? defaultOutputTokensMax;
  if (most === undefined || outputTokensMax <= most) return outputTokensMax;
  notes.adapted('outputTokensMax', `this model writes at most ${most} tokens`);
  return most;
}

/** Models with a budget show a summary by default; the default of others depends on the model. */
function encodeDisplay({ reasoning }: InferenceRequest, kind: 'effort' | 'budget'): JsonObject {
  if (reasoning?.visible === false) return { display: 'omitted' };
  return reasoning?.visible === true && kind === 'effort' ? { display: 'summarized' } : {};
}

function fitBudget(
  budget: number,
  limit: number,
  { outputTokensMax: requestedMax }: InferenceRequest,
  { traits, notes }: RequestFit,
  display: JsonObject,
): FittedThinking {
  const write = (tokens: number, outputTokensMax: number): FittedThinking => ({
    thinking: { type: 'enabled', budget_tokens: tokens, ...display },
    outputTokensMax,
    isOn: true,
  });
  if (budget < limit) return write(budget, limit);
  const raised = Math.min(traits.outputTokensMax ?? Number.POSITIVE_INFINITY, budget + limit);
  // The answer keeps as much room as possible.
  const tokens = Math.min(budget, Math.max(budgetTokensMin, raised - Math.min(limit, Math.floor(raised / 2))));
  if (tokens >= raised) {
    notes.dropped('reasoning', `there is no room to think in ${limit} tokens of output`);
    return { thinking: off, outputTokensMax: limit, isOn: false };
  }
  if (requestedMax !== undefined && raised > limit)
    notes.adapted('outputTokensMax', `the limit must have room for the thoughts; ${raised} is sent`);
  if (tokens < budget) notes.adapted('reasoning', `the output limit of this model has room for ${tokens} tokens of thought`);
  return write(tokens, raised);
}

const hasCall = ({ parts }: Turn): boolean => parts.some((part) => part.kind === 'tool-call');
const isResult = (part: Part): boolean => part.kind === 'tool-result';

/**
 * Whether a turn with calls, in the current loop or the last one, does not begin with its thoughts. The vendor refuses
 * that with a budget. Any reasoning left in the turns is the vendor's own.
 */
function lacksThoughts(turns: readonly Turn[]): boolean {
  const lastQuestion = turns.findLastIndex((turn) => turn.role === 'user' && !turn.parts.some(isResult));
  const lastAnswer = turns.findLastIndex((turn) => turn.role === 'assistant');
  return turns.some((turn, index) => {
    const counts = turn.role === 'assistant' && (index > lastQuestion || index === lastAnswer);
    return counts && hasCall(turn) && turn.parts[0]?.kind !== 'reasoning';
  });
}
