import { Type, type TSchema } from 'typebox';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import { createSchemaKit, orNull, type SchemaKit } from '../schema-builders.ts';
import { cacheControlSchema, contentBlockSchema, textBlockSchema } from './request-blocks.ts';
import { toolChoiceSchema, toolSchema } from './request-tools.ts';

/**
 * Builds the schema of the body of Messages and of its token count, by contract B 4.1. `compatible` is wider where the
 * vendor is wider than the contract; `documented` is exactly the contract, without other fields.
 */
export function buildRequestSchema(operation: Operation, mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  const isDocumented = mode === 'documented';
  const documented = {
    model: Type.String({ minLength: 1, maxLength: 256 }),
    // The vendor accepts 0 for "only warm the prompt cache", and coding agents test their quota with 1.
    ...(operation === 'generate' && { max_tokens: Type.Integer(isDocumented ? { exclusiveMinimum: 1 } : { minimum: 0 }) }),
    messages: Type.Array(messageSchema(kit), { minItems: 1, maxItems: 100_000 }),
    system: kit.optional(isDocumented ? Type.String() : Type.Union([Type.String(), Type.Array(textBlockSchema(kit))])),
    metadata: kit.optional(kit.object({ user_id: kit.optional(Type.String({ maxLength: isDocumented ? 256 : 512 })) })),
    stop_sequences: kit.optional(Type.Array(Type.String())),
    stream: kit.optional(Type.Boolean()),
    temperature: kit.optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: kit.optional(Type.Integer({ exclusiveMinimum: 0 })),
    top_p: kit.optional(Type.Number(isDocumented ? { exclusiveMinimum: 0, exclusiveMaximum: 1 } : { minimum: 0, maximum: 1 })),
    thinking: kit.optional(thinkingSchema(kit)),
    tool_choice: kit.optional(toolChoiceSchema(kit)),
    tools: kit.optional(Type.Array(toolSchema(kit))),
  };
  return kit.object(documented, furtherFields(kit));
}

/**
 * Fields of the vendor that the contract does not contain. The vendor checks their values, and none is lost silently.
 */
function furtherFields(kit: SchemaKit): Readonly<Record<string, TSchema>> {
  const text = orNull(Type.String());
  const format = Type.Object({ type: Type.String(), schema: orNull(Type.Object({})) });
  return {
    cache_control: orNull(cacheControlSchema(kit)),
    container: orNull(Type.Union([Type.String(), Type.Object({ id: text })])),
    context_management: orNull(Type.Object({ edits: orNull(Type.Array(Type.Object({ type: Type.String() }))) })),
    inference_geo: text,
    mcp_servers: orNull(Type.Array(Type.Object({ type: text, url: text, name: text }))),
    output_config: orNull(Type.Object({ effort: text, format: orNull(format), task_budget: orNull(Type.Object({})) })),
    output_format: orNull(format),
    service_tier: text,
    speed: text,
    user_profile_id: text,
  };
}

function messageSchema(kit: SchemaKit): TSchema {
  const isDocumented = !kit.isCompatible;
  // A string is one text block with at least one character. The vendor allows an empty prefill, which depends on the
  // message's position and is checked with the rules that a schema cannot express.
  const content = Type.String(isDocumented ? { minLength: 1 } : {});
  const roles = isDocumented ? ['user', 'assistant'] : ['user', 'assistant', 'system'];
  return kit.object({
    role: Type.Enum(roles),
    content: Type.Union([content, Type.Array(contentBlockSchema(kit))]),
  });
}

function thinkingSchema(kit: SchemaKit): TSchema {
  const display = { display: orNull(Type.String()) };
  const enabled = kit.object({ type: Type.Literal('enabled'), budget_tokens: Type.Integer({ minimum: 1024 }) }, display);
  const adaptive = kit.object({ type: Type.Literal('adaptive') }, display);
  const disabled = kit.object({ type: Type.Literal('disabled') });
  return kit.variants({ enabled, disabled, ...(kit.isCompatible && { adaptive }) });
}
