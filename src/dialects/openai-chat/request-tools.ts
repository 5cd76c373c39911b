import { Type, type TSchema } from 'typebox';
import type { SchemaWords } from '../shared-schema-words.ts';
import { optional } from './request-messages.ts';

/** The vendor's own rule for names of functions and schemas. Model servers that speak its dialect also take dots and longer names. */
const nameSchema = (words: SchemaWords): TSchema =>
  words.mode === 'documented' ? Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' }) : Type.String({ minLength: 1, maxLength: 128 });

export function toolSchema(words: SchemaWords): TSchema {
  return words.taggedUnion({
    function: Type.Object({ type: Type.Literal('function'), function: functionSchema(words) }),
    custom: Type.Object({
      type: Type.Literal('custom'),
      custom: Type.Object({ name: nameSchema(words), description: optional(Type.String()) }),
    }),
  });
}

/** What a function tool and an entry of the older `functions` hold. */
export function functionSchema(words: SchemaWords): TSchema {
  return Type.Object({
    name: nameSchema(words),
    description: optional(Type.String()),
    parameters: optional(Type.Object({})),
    strict: optional(Type.Boolean()),
  });
}

export function toolChoiceSchema(words: SchemaWords): TSchema {
  const named = Type.Object({ name: Type.String({ minLength: 1 }) });
  const choice = words.taggedUnion({
    function: Type.Object({ type: Type.Literal('function'), function: named }),
    custom: Type.Object({ type: Type.Literal('custom'), custom: named }),
    allowed_tools: Type.Object({ type: Type.Literal('allowed_tools'), allowed_tools: Type.Object({}) }),
  });
  return Type.Union([Type.Enum(['none', 'auto', 'required']), choice]);
}

export function responseFormatSchema(words: SchemaWords): TSchema {
  return words.taggedUnion({
    text: Type.Object({ type: Type.Literal('text') }),
    json_object: Type.Object({ type: Type.Literal('json_object') }),
    json_schema: Type.Object({
      type: Type.Literal('json_schema'),
      json_schema: Type.Object({
        name: nameSchema(words),
        schema: optional(Type.Object({})),
        strict: optional(Type.Boolean()),
        description: optional(Type.String()),
      }),
    }),
  });
}
