import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { assertDescribable } from './assert-describable.ts';

/**
 * Compiles a schema into a fast check. Call it once per schema, at start: compiling takes about a millisecond. If code
 * generation is off (`node --disallow-code-generation-from-strings`), TypeBox interprets the schema: the answers are
 * the same, but slower.
 *
 * @throws Error when the schema uses a keyword or reference that `describeProblems` could not explain
 */
export function compileCheck<Type extends TSchema>(schema: Type): (value: unknown) => value is Static<Type> {
  assertDescribable(schema);
  const validator = Compile(schema);
  return (value): value is Static<Type> => validator.Check(value);
}

/** The same for a check that most processes never need: it is compiled at its first use. */
export function compileCheckLater<Type extends TSchema>(schema: Type): (value: unknown) => value is Static<Type> {
  assertDescribable(schema);
  let validator: ReturnType<typeof Compile<Type>> | undefined;
  return (value): value is Static<Type> => (validator ??= Compile(schema)).Check(value);
}
