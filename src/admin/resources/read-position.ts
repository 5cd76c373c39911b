import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';

import { AdminProblem } from '../problem.ts';

/** The position in a cursor, if it has the form of this list. @throws AdminProblem `cursor_mismatch` */
export function readPosition<Schema extends TSchema>(schema: Schema, position: unknown): Static<Schema> {
  if (Check(schema, position)) return position;
  throw new AdminProblem('cursor_mismatch', 'The cursor was made by another version of this list; begin without a cursor.');
}
