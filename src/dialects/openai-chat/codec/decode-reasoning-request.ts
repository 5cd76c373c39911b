import type { ReasoningEffort, ReasoningRequest } from '../../../inference/inference-request.ts';
import { membersOf, numberOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';

const efforts: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const effortOf = (value: unknown): ReasoningEffort | undefined => wordOf(value, efforts);

const withEffort = (effort: ReasoningEffort | undefined): ReasoningRequest | undefined =>
  effort === undefined ? undefined : { mode: effort === 'none' ? 'off' : 'on', effort };

const switched = (value: unknown): ReasoningRequest | undefined =>
  typeof value === 'boolean' ? { mode: value ? 'on' : 'off' } : undefined;

/** OpenRouter's object: an effort or a budget, a switch, and whether the reasoning is visible. */
function readReasoningObject(value: unknown): ReasoningRequest | undefined {
  if (!isJsonObject(value)) return undefined;
  const budgetTokens = numberOf(value.max_tokens);
  const measured: ReasoningRequest | undefined =
    withEffort(effortOf(value.effort)) ??
    (budgetTokens === undefined ? undefined : { mode: budgetTokens === 0 ? 'off' : 'on', budgetTokens });
  const request = value.enabled === false ? switched(false) : (measured ?? switched(value.enabled));
  if (typeof value.exclude !== 'boolean') return request;
  return { ...(request ?? { mode: 'auto' }), visible: !value.exclude };
}

/** The object of DeepSeek, Z.ai and others, taken from the Messages interface. */
function readThinkingObject(value: unknown): ReasoningRequest | undefined {
  if (!isJsonObject(value)) return undefined;
  if (value.type === 'disabled') return { mode: 'off' };
  if (value.type === 'adaptive' || value.type === 'auto') return { mode: 'auto' };
  const budgetTokens = numberOf(value.budget_tokens);
  return value.type === 'enabled' ? { mode: 'on', ...(budgetTokens === undefined ? {} : { budgetTokens }) } : undefined;
}

function readTemplateSwitch(value: unknown): ReasoningRequest | undefined {
  const { enable_thinking: enabled, thinking } = membersOf(value);
  return switched(enabled) ?? switched(thinking);
}

function readThink(value: unknown): ReasoningRequest | undefined {
  return switched(value) ?? withEffort(effortOf(value));
}

/**
 * The fields that control reasoning, the vendor's own first. If several are present, the first with a meaningful value
 * applies.
 */
const readers: readonly (readonly [field: string, read: (value: unknown) => ReasoningRequest | undefined])[] = [
  ['reasoning_effort', (value) => withEffort(effortOf(value))],
  ['reasoning', readReasoningObject],
  ['thinking', readThinkingObject],
  ['think', readThink],
  ['enable_thinking', switched],
  ['chat_template_kwargs', readTemplateSwitch],
];

/** Every field that may concern reasoning. */
export const reasoningFields: readonly string[] = [...readers.map(([field]) => field), 'thinking_budget', 'include_reasoning'];

/**
 * Reads the requested amount of reasoning, with the field names of the vendor and of servers that imitate it. `fields`
 * are those that were understood.
 */
export function decodeReasoningRequest(body: JsonObject): { readonly reasoning?: ReasoningRequest; readonly fields: readonly string[] } {
  const readings = readers.flatMap(([field, read]) => {
    const request = read(body[field]);
    return request === undefined ? [] : [{ field, request }];
  });
  const budgetTokens = numberOf(body.thinking_budget);
  const fields = [...readings.map(({ field }) => field), ...(budgetTokens === undefined ? [] : ['thinking_budget'])];
  const [first] = readings;
  const visible = typeof body.include_reasoning === 'boolean' ? body.include_reasoning : undefined;
  if (first === undefined && budgetTokens === undefined && visible === undefined) return { fields };
  const base: ReasoningRequest = first?.request ?? { mode: budgetTokens === undefined ? 'auto' : budgetTokens === 0 ? 'off' : 'on' };
  const path = fields[0] ?? 'include_reasoning';
  return {
    reasoning: {
      ...(path === 'reasoning_effort' ? {} : { path }),
      ...base,
      ...(budgetTokens === undefined || base.mode === 'off' ? {} : { budgetTokens }),
      ...(visible === undefined || base.visible !== undefined ? {} : { visible }),
    },
    fields: visible === undefined ? fields : [...fields, 'include_reasoning'],
  };
}
