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

/** Writes the requested amount of reasoning in the field that the server reads. */
export function encodeReasoningRequest({ reasoning }: InferenceRequest, { traits, notes }: RequestFit): JsonObject {
  const fitted = fitReasoning(reasoning, traits, notes);
  const field = traits.chat.reasoningField;
  if (field === 'reasoning') return encodeObject(fitted, reasoning?.visible);
  if (fitted.kind === 'default') return {};
  if (field === 'reasoning_effort') return encodeEffort(fitted, traits, notes);
  const enabled = fitted.kind !== 'off';
  if (enabled && (reasoning?.effort !== undefined || reasoning?.budgetTokens !== undefined)) {
    notes.adapted('reasoning', 'reasoning is switched on; the server has no setting for its amount');
  }
  return field === 'think' ? { think: enabled } : { chat_template_kwargs: { enable_thinking: enabled } };
}
