import { Type } from 'typebox';
import type { TSchema } from 'typebox';

/** A member that may be absent. The canonical form has no nulls. */
export const optional = (schema: TSchema): TSchema => Type.Optional(schema);

export const optionalText = Type.Optional(Type.String());
export const optionalFlag = Type.Optional(Type.Boolean());

/** Any JSON object of the client: arguments, results, JSON Schemas. */
export const freeObject = Type.Object({});

/** A member that is refused; the message says what to send instead. */
export const refused: TSchema = Type.Optional(Type.Unsafe({ not: {} }));
