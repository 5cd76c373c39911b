import { Type, type TSchema } from 'typebox';
import type { Operation, ValidationMode } from '../chat-dialect.ts';
import { createSchemaWords, type SchemaWords } from '../shared-schema-words.ts';
import { contentBlockSchema, textBlockSchema } from './request-blocks.ts';
import { toolChoiceSchema, toolSchema } from './request-tools.ts';

/**
 * The request body of Messages and of its token count, by contract B 4.1. `compatible` widens what the contract bounds more tightly
 * than the vendor does; `documented` is the contract's letter, and knows no fields beyond it.
 */
export function buildRequestSchema(operation: Operation, mode: ValidationMode): TSchema {
  const words = createSchemaWords(mode);
  const isDocumented = mode === 'documented';
  return words.object({
    model: Type.String({ minLength: 1, maxLength: 256 }),
    // The vendor takes 0 as "only warm the prompt cache", and coding agents probe their quota with 1.
    ...(operation === 'generate' && { max_tokens: Type.Integer(isDocumented ? { exclusiveMinimum: 1 } : { minimum: 0 }) }),
    messages: Type.Array(messageSchema(words), { minItems: 1, maxItems: 100_000 }),
    system: words.optional(isDocumented ? Type.String() : Type.Union([Type.String(), Type.Array(textBlockSchema(words))])),
    metadata: words.optional(words.object({ user_id: words.optional(Type.String({ maxLength: isDocumented ? 256 : 512 })) })),
    stop_sequences: words.optional(Type.Array(Type.String())),
    stream: words.optional(Type.Boolean()),
    temperature: words.optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: words.optional(Type.Integer({ exclusiveMinimum: 0 })),
    top_p: words.optional(Type.Number(isDocumented ? { exclusiveMinimum: 0, exclusiveMaximum: 1 } : { minimum: 0, maximum: 1 })),
    thinking: words.optional(thinkingSchema(words)),
    tool_choice: words.optional(toolChoiceSchema(words)),
    tools: words.optional(Type.Array(toolSchema(words))),
  });
}

function messageSchema(words: SchemaWords): TSchema {
  const isDocumented = words.mode === 'documented';
  // A string is shorthand for one text block, whose text has at least one character. The vendor lets the prefill of a reply be empty,
  // which depends on the message's place and is checked with the other rules that a schema cannot say.
  const content = Type.String(isDocumented ? { minLength: 1 } : {});
  const roles = isDocumented ? ['user', 'assistant'] : ['user', 'assistant', 'system'];
  return words.object({
    role: Type.Enum(roles),
    content: Type.Union([content, Type.Array(contentBlockSchema(words))]),
  });
}

function thinkingSchema(words: SchemaWords): TSchema {
  const enabled = words.object({ type: Type.Literal('enabled'), budget_tokens: Type.Integer({ minimum: 1024 }) });
  return words.taggedUnion({ enabled, disabled: words.object({ type: Type.Literal('disabled') }) });
}
