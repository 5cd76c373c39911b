import { Type, type TProperties, type TSchema } from 'typebox';
import type { ValidationMode } from './chat-dialect.ts';

/** The words in which a mode reads a contract: whether objects may grow, optional fields may be null and unknown variants pass. */
export type SchemaWords = {
  readonly mode: ValidationMode;
  /** An object that may hold fields which are not named here (`compatible`) or must not (`documented`). */
  readonly object: (properties: TProperties) => TSchema;
  /** A field that may be absent, and in `compatible` mode null, which the vendors take for absent. */
  readonly optional: (schema: TSchema) => TSchema;
  /** One of `known` by its `type`; in `compatible` mode also any object with another `type`, which the vendor may have added since. */
  readonly taggedUnion: (known: Readonly<Record<string, TSchema>>) => TSchema;
};

export function createSchemaWords(mode: ValidationMode): SchemaWords {
  const isOpen = mode === 'compatible';
  return {
    mode,
    object: (properties) => Type.Object(properties, isOpen ? {} : { additionalProperties: false }),
    optional: (schema) => Type.Optional(isOpen ? Type.Union([schema, Type.Null()]) : schema),
    taggedUnion: (known) => Type.Union([...Object.values(known), ...(isOpen ? [otherVariant(Object.keys(known))] : [])]),
  };
}

function otherVariant(knownTypes: readonly string[]): TSchema {
  return Type.Object({ type: Type.Unsafe<string>({ type: 'string', not: { enum: [...knownTypes] } }) });
}
