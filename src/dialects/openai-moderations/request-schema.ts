import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { ValidationMode } from '../dialect-id.ts';
import { createSchemaKit, literal } from '../schema-builders.ts';

const inputsMax = 2048;
const urlCharactersMax = 20_971_520;

export function moderationSchema(mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  const part = Type.Union([
    Type.Object({ type: literal('text'), text: Type.String() }),
    Type.Object({
      type: literal('image_url'),
      image_url: Type.Object({ url: Type.String({ minLength: 1, maxLength: urlCharactersMax }) }),
    }),
  ]);
  const input = Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), ...part.anyOf]), { minItems: 1, maxItems: inputsMax })]);
  return kit.object({ model: kit.optional(Type.String({ minLength: 1, maxLength: 256 })), input });
}
