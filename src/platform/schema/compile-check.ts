import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { assertDescribable } from './assert-describable.ts';

/**
 * Compiles a schema into a fast check, which takes from one millisecond to a hundred. If code generation is off
 * (`node --disallow-code-generation-from-strings`), TypeBox interprets the schema: the answers are the same, but
 * slower.
 *
 * @throws Error when the schema uses a keyword or reference that `describeProblems` could not explain
 */
export function compileCheck<Type extends TSchema>(schema: Type): (value: unknown) => value is Static<Type> {
  assertDescribable(schema);
  const validator = Compile(schema);
  return (value): value is Static<Type> => validator.Check(value);
}

/**
 * The same, compiled at its first use: a process needs few of the checks that it has, and compiling all of them would
 * be a fifth of the time of its start.
 */
export function compileCheckLater<Type extends TSchema>(schema: Type): (value: unknown) => value is Static<Type> {
  let check: ((value: unknown) => value is Static<Type>) | undefined;
  return (value): value is Static<Type> => (check ??= compileCheck(schema))(value);
}
