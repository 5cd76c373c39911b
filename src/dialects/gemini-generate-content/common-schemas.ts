import { Type } from 'typebox';
import type { TSchema } from 'typebox';

/** A member that may be absent. Nulls are gone from the canonical form, in which they mean nothing. */
export const optional = (schema: TSchema): TSchema => Type.Optional(schema);

export const optionalText = Type.Optional(Type.String());
export const optionalFlag = Type.Optional(Type.Boolean());

/** Any JSON object whose members are the client's own: arguments, results, JSON Schemas. */
export const freeObject = Type.Object({});

/** A member that must not be there; the message says what to send instead. */
export const refused: TSchema = Type.Optional(Type.Unsafe({ not: {} }));
