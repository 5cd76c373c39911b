import type { InferenceRequest } from '../../../inference/inference-request.ts';
import { fitReasoning, type FittedReasoning } from '../../../inference/reasoning-scale.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';

/** Converts a budget for servers that accept only efforts, by the usual tokens of each effort. */
function effortOfBudget(tokens: number): string {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}

function effortOf(fitted: FittedReasoning): string | undefined {
  if (fitted.kind === 'effort') return fitted.effort;
  return fitted.kind === 'budget' ? effortOfBudget(fitted.tokens) : undefined;
}

function encodeEffort(fitted: FittedReasoning, traits: ModelTraits, notes: TranslationNotes): JsonObject {
  const effort = effortOf(fitted) ?? 'none';
  if (effort !== 'none' || (traits.efforts ?? ['none']).includes('none')) return { reasoning_effort: effort };
  notes.adapted('reasoning', 'the server cannot switch reasoning off; its default applies');
  return {};
}

/** OpenRouter's object accepts effort or budget, and whether the reasoning is returned. */
function encodeObject(fitted: FittedReasoning, visible: boolean | undefined): JsonObject {
  const shown = visible === false ? { exclude: true } : {};
  switch (fitted.kind) {
    case 'default':
      return visible === false ? { reasoning: shown } : {};
    case 'off':
      return { reasoning: { enabled: false } };
    case 'effort':
      return { reasoning: { effort: fitted.effort, ...shown } };
    case 'budget':
      return { reasoning: { max_tokens: fitted.tokens, ...shown } };
  }
}

/** DashScope's two members. A whole reply of some models comes only without thoughts, also if nobody asks for any. */
function encodeMembers(fitted: FittedReasoning, stream: boolean, { traits, notes }: RequestFit): JsonObject {
  if (!stream && traits.chat.thinksInStreamsOnly === true) {
    if (fitted.kind === 'budget' || fitted.kind === 'effort')
      notes.dropped('reasoning', 'the model thinks only in streams, and the request is for a whole reply');
    return { enable_thinking: false };
  }
  if (fitted.kind === 'default') return {};
  if (fitted.kind === 'off') return { enable_thinking: false };
  return { enable_thinking: true, ...(fitted.kind === 'budget' && { thinking_budget: fitted.tokens }) };
}

/** Writes the requested amount of reasoning in the field that the server reads. */
export function encodeReasoningRequest({ reasoning, stream }: InferenceRequest, fit: RequestFit): JsonObject {
  const { traits, notes } = fit;
  const fitted = fitReasoning(reasoning, traits, notes);
  const field = traits.chat.reasoningField;
  if (field === 'top_enable_thinking') return encodeMembers(fitted, stream, fit);
  if (field === 'reasoning') return encodeObject(fitted, reasoning?.visible);
  if (fitted.kind === 'default') return {};
  if (field === 'reasoning_effort') return encodeEffort(fitted, traits, notes);
  const enabled = fitted.kind !== 'off';
  if (enabled && (reasoning?.effort !== undefined || reasoning?.budgetTokens !== undefined)) {
    notes.adapted('reasoning', 'reasoning is switched on; the server has no setting for its amount');
  }
  if (field === 'thinking_type') return { thinking: { type: enabled ? 'enabled' : 'disabled' } };
  return field === 'think' ? { think: enabled } : { chat_template_kwargs: { enable_thinking: enabled } };
}
