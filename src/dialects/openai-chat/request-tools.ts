import { Type, type TSchema } from 'typebox';
import { orNull, type SchemaKit } from '../schema-builders.ts';

/** The vendor's rule for names of functions and schemas. Model servers also accept dots and longer names. */
const nameSchema = (kit: SchemaKit): TSchema =>
  kit.isCompatible ? Type.String({ minLength: 1, maxLength: 128 }) : Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' });

export function toolSchema(kit: SchemaKit): TSchema {
  return kit.variants({
    function: Type.Object({ type: Type.Literal('function'), function: functionSchema(kit) }),
    custom: Type.Object({
      type: Type.Literal('custom'),
      custom: Type.Object({ name: nameSchema(kit), description: orNull(Type.String()), format: orNull(Type.Object({})) }),
    }),
  });
}

/** The members of a function tool and of an entry of the older `functions`. */
export function functionSchema(kit: SchemaKit): TSchema {
  return Type.Object({
    name: nameSchema(kit),
    description: orNull(Type.String()),
    parameters: orNull(Type.Object({})),
    strict: orNull(Type.Boolean()),
  });
}

export function toolChoiceSchema(kit: SchemaKit): TSchema {
  const named = Type.Object({ name: Type.String({ minLength: 1 }) });
  const choice = kit.variants({
    function: Type.Object({ type: Type.Literal('function'), function: named }),
    custom: Type.Object({ type: Type.Literal('custom'), custom: named }),
    allowed_tools: Type.Object({
      type: Type.Literal('allowed_tools'),
      allowed_tools: Type.Object({ mode: orNull(Type.String()), tools: orNull(Type.Array(Type.Object({}))) }),
    }),
  });
  return Type.Union([Type.Enum(['none', 'auto', 'required']), choice]);
}

export function responseFormatSchema(kit: SchemaKit): TSchema {
  return kit.variants({
    text: Type.Object({ type: Type.Literal('text') }),
    json_object: Type.Object({ type: Type.Literal('json_object'), schema: orNull(Type.Object({})) }),
    json_schema: Type.Object({
      type: Type.Literal('json_schema'),
      json_schema: Type.Object({
        // Perplexity's clients omit the name.
        name: kit.isCompatible ? orNull(nameSchema(kit)) : nameSchema(kit),
        schema: orNull(Type.Object({})),
        strict: orNull(Type.Boolean()),
        description: orNull(Type.String()),
      }),
    }),
  });
}
