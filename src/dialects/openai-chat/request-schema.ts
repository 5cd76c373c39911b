import { Type, type TSchema } from 'typebox';
import type { ValidationMode } from '../chat-dialect.ts';
import { createSchemaWords } from '../shared-schema-words.ts';
import { messageSchema, optional } from './request-messages.ts';
import { functionSchema, responseFormatSchema, toolChoiceSchema, toolSchema } from './request-tools.ts';

/** Fields that are whole numbers, and fields whose arrays hold strings: error messages tell them apart. */
export const integerFields: ReadonlySet<string | number> = new Set(['n', 'max_tokens', 'max_completion_tokens', 'top_logprobs', 'seed']);
export const stringArrayFields: ReadonlySet<string | number> = new Set(['stop', 'modalities']);

/**
 * The request body of chat completions. No contract bounds this dialect, so `documented` means the vendor's own reference, and fields
 * that it does not name pass in both modes: the model servers that speak it have many of their own.
 */
export function buildRequestSchema(mode: ValidationMode): TSchema {
  const words = createSchemaWords(mode);
  const isDocumented = mode === 'documented';
  return Type.Object({
    model: Type.String({ minLength: 1, maxLength: 256 }),
    messages: Type.Array(messageSchema(words), { minItems: 1 }),
    ...samplingFields(),
    ...outputFields(isDocumented),
    stream: optional(Type.Boolean()),
    stream_options: optional(Type.Object({ include_usage: optional(Type.Boolean()), include_obfuscation: optional(Type.Boolean()) })),
    tools: optional(Type.Array(toolSchema(words), isDocumented ? { maxItems: 128 } : {})),
    tool_choice: optional(toolChoiceSchema(words)),
    parallel_tool_calls: optional(Type.Boolean()),
    functions: optional(Type.Array(functionSchema(words), { minItems: 1 })),
    function_call: optional(Type.Union([Type.Enum(['none', 'auto']), Type.Object({ name: Type.String() })])),
    response_format: optional(responseFormatSchema(words)),
    ...callerFields(),
  });
}

function samplingFields(): Record<string, TSchema> {
  return {
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
    logit_bias: optional(Type.Object({}, { additionalProperties: Type.Number({ minimum: -100, maximum: 100 }) })),
    seed: optional(Type.Integer()),
  };
}

function outputFields(isDocumented: boolean): Record<string, TSchema> {
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  return {
    max_tokens: optional(Type.Integer({ minimum: 1 })),
    max_completion_tokens: optional(Type.Integer({ minimum: 1 })),
    n: optional(Type.Integer({ minimum: 1, maximum: 128 })),
    stop: optional(Type.Union([Type.String(), Type.Array(Type.String(), isDocumented ? { maxItems: 4 } : {})])),
    logprobs: optional(Type.Boolean()),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    reasoning_effort: optional(isDocumented ? Type.Enum(efforts) : Type.String()),
    verbosity: optional(isDocumented ? Type.Enum(['low', 'medium', 'high']) : Type.String()),
    modalities: optional(Type.Array(Type.String())),
    // The vendor wants `voice` too, as a name or as an object; it may judge that itself.
    audio: optional(Type.Object({ format: Type.String() })),
    prediction: optional(Type.Object({})),
  };
}

function callerFields(): Record<string, TSchema> {
  return {
    user: optional(Type.String()),
    metadata: optional(Type.Object({})),
    store: optional(Type.Boolean()),
    service_tier: optional(Type.String()),
    safety_identifier: optional(Type.String()),
    prompt_cache_key: optional(Type.String()),
    web_search_options: optional(Type.Object({})),
  };
}
