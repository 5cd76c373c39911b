import { Type, type TSchema } from 'typebox';
import type { ValidationMode } from '../dialect-id.ts';
import { createSchemaKit, orNull } from '../schema-builders.ts';
import { messageSchema } from './request-messages.ts';
import { functionSchema, responseFormatSchema, toolChoiceSchema, toolSchema } from './request-tools.ts';

/**
 * The request body of chat completions. No contract describes this dialect, so `documented` means the vendor's
 * reference. Unknown fields pass in both modes, because model servers have many of their own. The vendor treats null as
 * absent everywhere.
 */
export function buildRequestSchema(mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  const isDocumented = mode === 'documented';
  return Type.Object({
    model: Type.String({ minLength: 1, maxLength: 256 }),
    messages: Type.Array(messageSchema(kit), { minItems: 1 }),
    ...samplingFields(),
    ...outputFields(isDocumented),
    stream: orNull(Type.Boolean()),
    stream_options: orNull(Type.Object({ include_usage: orNull(Type.Boolean()), include_obfuscation: orNull(Type.Boolean()) })),
    tools: orNull(Type.Array(toolSchema(kit), isDocumented ? { maxItems: 128 } : {})),
    tool_choice: orNull(toolChoiceSchema(kit)),
    parallel_tool_calls: orNull(Type.Boolean()),
    functions: orNull(Type.Array(functionSchema(kit), { minItems: 1 })),
    function_call: orNull(Type.Union([Type.Enum(['none', 'auto']), Type.Object({ name: Type.String() })])),
    response_format: orNull(responseFormatSchema(kit)),
    ...callerFields(),
    ...serverFields(),
  });
}

function samplingFields(): Record<string, TSchema> {
  return {
    temperature: orNull(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: orNull(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: orNull(Type.Number({ minimum: -2, maximum: 2 })),
    logit_bias: orNull(Type.Object({}, { additionalProperties: Type.Number({ minimum: -100, maximum: 100 }) })),
    seed: orNull(Type.Integer()),
  };
}

function outputFields(isDocumented: boolean): Record<string, TSchema> {
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  return {
    max_tokens: orNull(Type.Integer({ minimum: 1 })),
    max_completion_tokens: orNull(Type.Integer({ minimum: 1 })),
    n: orNull(Type.Integer({ minimum: 1, maximum: 128 })),
    stop: orNull(Type.Union([Type.String(), Type.Array(Type.String(), isDocumented ? { maxItems: 4 } : {})])),
    logprobs: orNull(Type.Boolean()),
    top_logprobs: orNull(Type.Integer({ minimum: 0, maximum: 20 })),
    reasoning_effort: orNull(isDocumented ? Type.Enum(efforts) : Type.String()),
    verbosity: orNull(isDocumented ? Type.Enum(['low', 'medium', 'high']) : Type.String()),
    modalities: orNull(Type.Array(Type.String())),
    // The vendor also requires `voice`, as a name or an object, and checks it itself.
    audio: orNull(Type.Object({ format: Type.String() })),
    prediction: orNull(Type.Object({})),
  };
}

const text = orNull(Type.String());
const location = Type.Object({ city: text, country: text, region: text, timezone: text });
const searchOptions = Type.Object({
  search_context_size: text,
  user_location: orNull(Type.Object({ type: text, approximate: orNull(location) })),
});

/** Additional fields of servers of this dialect, if they have a neutral name or are common. */
function serverFields(): Record<string, TSchema> {
  return {
    top_k: orNull(Type.Integer()),
    min_p: orNull(Type.Number()),
    repetition_penalty: orNull(Type.Number()),
    reasoning: orNull(
      Type.Object({
        effort: text,
        max_tokens: orNull(Type.Integer()),
        enabled: orNull(Type.Boolean()),
        exclude: orNull(Type.Boolean()),
      }),
    ),
    chat_template_kwargs: orNull(Type.Object({ enable_thinking: orNull(Type.Boolean()) })),
    enable_thinking: orNull(Type.Boolean()),
    thinking_budget: orNull(Type.Integer()),
    include_reasoning: orNull(Type.Boolean()),
  };
}

function callerFields(): Record<string, TSchema> {
  return {
    user: orNull(Type.String()),
    metadata: orNull(Type.Object({})),
    store: orNull(Type.Boolean()),
    service_tier: orNull(Type.String()),
    safety_identifier: orNull(Type.String()),
    prompt_cache_key: orNull(Type.String()),
    prompt_cache_retention: orNull(Type.String()),
    prompt_cache_options: orNull(Type.Object({})),
    moderation: orNull(Type.Object({})),
    web_search_options: orNull(searchOptions),
  };
}
