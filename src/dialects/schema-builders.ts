import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { ValidationMode } from './dialect-id.ts';

type Properties = Readonly<Record<string, TSchema>>;

/**
 * The words in which the request schemas of one validation mode are written. `documented` is the contract to the letter; `compatible`
 * takes what the vendor takes, where that is more.
 */
export type SchemaKit = {
  readonly isCompatible: boolean;
  /** An object. Members that the contract does not name pass in compatible mode; `compatible` are those whose shape is still checked. */
  readonly object: (documented: Properties, compatible?: Properties) => TSchema;
  /** One of the contract's words, or in compatible mode one of the vendor's further ones. */
  readonly words: (documented: readonly string[], compatible?: readonly string[]) => TSchema;
  /** A member that may be absent, and in compatible mode null, which the vendors take for absent. */
  readonly optional: (schema: TSchema) => TSchema;
  /** A member that the contract requires and the vendor does not. */
  readonly requiredByContract: (schema: TSchema) => TSchema;
  /** Variants by `type`; in compatible mode any other type passes as well, since the vendors add some every few weeks. */
  readonly variants: (known: Properties) => TSchema;
};

/** The value or null. Null stands beside words as one more word, so that a `type` that may be null still tells variants apart. */
export function nullable(schema: TSchema): TSchema {
  if ('enum' in schema && Array.isArray(schema.enum)) return Type.Unsafe({ enum: [...(schema.enum as unknown[]), null] });
  return Type.Union([schema, Type.Null()]);
}

const words = (values: readonly string[]): TSchema => Type.Unsafe({ type: 'string', enum: [...values] });

/** A member that holds exactly this text. */
export const literal = (value: string): TSchema => words([value]);

/** A member that may be absent or null in either mode. */
export const orNull = (schema: TSchema): TSchema => Type.Optional(Type.Union([schema, Type.Null()]));

export function createSchemaKit(mode: ValidationMode): SchemaKit {
  const isCompatible = mode === 'compatible';
  const optional = (schema: TSchema): TSchema => Type.Optional(isCompatible ? nullable(schema) : schema);
  return {
    isCompatible,
    object: (documented, compatible = {}) =>
      isCompatible ? Type.Object({ ...documented, ...compatible }) : Type.Object({ ...documented }, { additionalProperties: false }),
    words: (documented, compatible = []) => words(isCompatible ? [...documented, ...compatible] : documented),
    optional,
    requiredByContract: (schema) => (isCompatible ? optional(schema) : schema),
    variants: (known) => Type.Union([...Object.values(known), ...(isCompatible ? [otherVariant(Object.keys(known))] : [])]),
  };
}

function otherVariant(knownTypes: readonly string[]): TSchema {
  return Type.Object({ type: Type.Unsafe<string>({ type: 'string', not: { enum: [...knownTypes] } }) });
}
