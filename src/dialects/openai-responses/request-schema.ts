import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import { createInputSchema } from './input-item-schemas.ts';
import { createSchemaKit, literal, orNull } from '../schema-builders.ts';
import type { SchemaKit } from '../schema-builders.ts';
import { createToolChoiceSchema, createToolSchema } from './tool-schemas.ts';

const includeValues = [
  'file_search_call.results',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'reasoning.encrypted_content',
];
/** Additional values of the vendor, from its API description of 2026-08-21. */
const furtherIncludeValues = [
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
  'message.output_text.logprobs',
];

function createTextSchema(kit: SchemaKit): TSchema {
  const format = Type.Union([
    kit.object({ type: literal('text') }),
    kit.object({
      type: literal('json_schema'),
      name: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]*$' }),
      schema: Type.Object({}),
      description: kit.optional(Type.String()),
      strict: kit.optional(Type.Boolean()),
    }),
    kit.object({ type: literal('json_object') }),
  ]);
  return kit.object({ format: kit.optional(format) }, { verbosity: kit.optional(kit.words(['low', 'medium', 'high'])) });
}

function createReasoningSchema(kit: SchemaKit): TSchema {
  const summary = kit.optional(kit.words(['auto', 'concise', 'detailed']));
  return kit.object(
    {
      effort: kit.optional(kit.words(['low', 'medium', 'high'], ['none', 'minimal', 'xhigh', 'max'])),
      summary,
      generate_summary: summary,
    },
    { context: orNull(Type.String()), mode: orNull(Type.String()) },
  );
}

/**
 * At most 16 pairs of short texts. The schema of values has no pattern, so that the document shows all three bounds.
 */
export const metadataSchema = Type.Unsafe({
  type: 'object',
  maxProperties: 16,
  propertyNames: { type: 'string', maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 512 },
});

/** The vendor's fields that are not in the contract. They are checked where the vendor refuses other types. */
function createFurtherFields(kit: SchemaKit): Readonly<Record<string, TSchema>> {
  const text = kit.optional(Type.String());
  return {
    background: kit.optional(Type.Boolean()),
    conversation: kit.optional(Type.Union([Type.String(), Type.Object({ id: Type.String() })])),
    max_tool_calls: kit.optional(Type.Integer({ minimum: 1 })),
    prompt: kit.optional(Type.Object({ id: Type.String() })),
    prompt_cache_key: text,
    safety_identifier: text,
    prompt_cache_retention: text,
    prompt_cache_options: kit.optional(Type.Object({})),
    moderation: kit.optional(Type.Object({})),
    context_management: kit.optional(Type.Array(Type.Object({ type: Type.String() }))),
    stream_options: kit.optional(Type.Object({ include_obfuscation: kit.optional(Type.Boolean()) })),
    top_logprobs: kit.optional(Type.Integer({ minimum: 0, maximum: 20 })),
  };
}

function createRequestSchema(mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  const input = createInputSchema(kit);
  return kit.object(
    {
      model: Type.String({ minLength: 1 }),
      input: kit.requiredByContract(input),
      include: orNull(Type.Array(kit.words(includeValues, furtherIncludeValues))),
      instructions: orNull(Type.String()),
      max_output_tokens: orNull(Type.Integer({ minimum: 1 })),
      metadata: kit.optional(metadataSchema),
      parallel_tool_calls: orNull(Type.Boolean()),
      previous_response_id: orNull(Type.String({ minLength: 1 })),
      reasoning: orNull(createReasoningSchema(kit)),
      service_tier: orNull(kit.words(['auto', 'default', 'flex'], ['priority', 'scale', 'fast'])),
      store: orNull(Type.Boolean()),
      stream: orNull(Type.Boolean()),
      temperature: orNull(Type.Number({ minimum: 0, maximum: 2 })),
      text: kit.optional(createTextSchema(kit)),
      tool_choice: kit.optional(createToolChoiceSchema(kit)),
      tools: kit.optional(Type.Array(createToolSchema(kit))),
      top_p: orNull(Type.Number({ minimum: 0, maximum: 1 })),
      truncation: orNull(kit.words(['disabled', 'auto'])),
      user: kit.optional(Type.String()),
    },
    createFurtherFields(kit),
  );
}

const schemas: Readonly<Record<ValidationMode, TSchema>> = {
  compatible: createRequestSchema('compatible'),
  documented: createRequestSchema('documented'),
};

/** The schema of a request. Counting and compacting use the same body as generating, and are not in the contract. */
export function requestSchema(operation: Operation, mode: ValidationMode): TSchema {
  return schemas[operation === 'generate' ? mode : 'compatible'];
}
