import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { ValidationMode } from '../chat-dialect.ts';

type Properties = Readonly<Record<string, TSchema>>;

/**
 * The words in which the schemas of one validation mode are written. They describe the canonical form of a request: camelCase names,
 * lists as lists, enums by name. `documented` is the contract to the letter.
 */
export type SchemaKit = {
  readonly isCompatible: boolean;
  /** An object. Members that the contract does not name pass in compatible mode; `compatible` are those whose shape is still checked. */
  readonly object: (documented: Properties, compatible?: Properties) => TSchema;
  /** An enum, its values in the order of their numbers; further ones of the vendor in compatible mode. */
  readonly words: (documented: readonly string[], compatible?: readonly string[]) => TSchema;
};

export const optional = (schema: TSchema): TSchema => Type.Optional(schema);

export const optionalText = Type.Optional(Type.String());
export const optionalFlag = Type.Optional(Type.Boolean());

/** Any JSON object whose members are the client's own: arguments, results, JSON Schemas. */
export const freeObject = Type.Object({});

/** A member that must not be there; the message says what to send instead. */
export const refused: TSchema = Type.Optional(Type.Unsafe({ not: {} }));

export function createSchemaKit(mode: ValidationMode): SchemaKit {
  const isCompatible = mode === 'compatible';
  return {
    isCompatible,
    object: (documented, compatible = {}) =>
      isCompatible ? Type.Object({ ...documented, ...compatible }) : Type.Object({ ...documented }, { additionalProperties: false }),
    words: (documented, compatible = []) =>
      Type.Unsafe({ type: 'string', enum: isCompatible ? [...documented, ...compatible] : [...documented] }),
  };
}
