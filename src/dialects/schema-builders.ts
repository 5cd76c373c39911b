import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { ValidationMode } from './dialect-id.ts';

type Properties = Readonly<Record<string, TSchema>>;

/**
 * Builders for the request schemas of one validation mode. `documented` is the contract to the letter; `compatible`
 * also accepts what the vendor accepts.
 */
export type SchemaKit = {
  readonly isCompatible: boolean;
  /**
   * An object. Compatible mode accepts members that the contract does not name; those in `compatible` are still
   * checked.
   */
  readonly object: (documented: Properties, compatible?: Properties) => TSchema;
  /** One of the contract's values, or in compatible mode one of the vendor's additional values. */
  readonly words: (documented: readonly string[], compatible?: readonly string[]) => TSchema;
  /** A member that may be absent. In compatible mode it may also be null, which vendors treat as absent. */
  readonly optional: (schema: TSchema) => TSchema;
  /** A member that the contract requires and the vendor does not. */
  readonly requiredByContract: (schema: TSchema) => TSchema;
  /** Variants by `type`. Compatible mode also accepts any other type, because vendors add some every few weeks. */
  readonly variants: (byType: Properties) => TSchema;
};

/**
 * The value or null. For an enum, null is one more value, so that a `type` that may be null still distinguishes
 * variants.
 */
export function nullable(schema: TSchema): TSchema {
  if ('enum' in schema && Array.isArray(schema.enum)) return Type.Unsafe({ enum: [...(schema.enum as unknown[]), null] });
  return Type.Union([schema, Type.Null()]);
}

const words = (values: readonly string[]): TSchema => Type.Unsafe({ type: 'string', enum: [...values] });

/** A member with exactly this text. */
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
    variants: (byType) => Type.Union([...Object.values(byType), ...(isCompatible ? [otherVariant(Object.keys(byType))] : [])]),
  };
}

function otherVariant(knownTypes: readonly string[]): TSchema {
  return Type.Object({ type: Type.Unsafe<string>({ type: 'string', not: { enum: [...knownTypes] } }) });
}
