import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

/** A schema with its check, as TypeBox compiles it. */
type Compiled<Type extends TSchema> = { readonly Schema: () => Type; readonly Check: (value: unknown) => value is Static<Type> };

/** Compiles a schema at its first use, because compiling all of them would be half of the start. */
export function compileLater<Type extends TSchema>(schema: Type): Compiled<Type> {
  let validator: ReturnType<typeof Compile<Type>> | undefined;
  return { Schema: () => schema, Check: (value): value is Static<Type> => (validator ??= Compile(schema)).Check(value) };
}
