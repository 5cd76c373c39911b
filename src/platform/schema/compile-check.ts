import type { Static, TSchema } from 'typebox';
import { Check, Compile } from 'typebox/schema';
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

/**
 * The same answers without compiling, for a schema that a process checks a few times: compiling the schema of weir.yaml
 * takes 30 ms of processor time, and such a check 10 the first time.
 */
export function checkWithoutCompiling<Type extends TSchema>(schema: Type): (value: unknown) => value is Static<Type> {
  let isDescribable = false;
  return (value): value is Static<Type> => {
    if (!isDescribable) assertDescribable(schema);
    isDescribable = true;
    return Check(schema, value);
  };
}
