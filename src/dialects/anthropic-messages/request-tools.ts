import { Type, type TProperties, type TSchema } from 'typebox';
import type { SchemaWords } from '../shared-schema-words.ts';
import { cacheControlSchema } from './request-blocks.ts';

/** One entry of `tools`. A tool without a type is the caller's own; the other three carry the name that their type prescribes. */
export function toolSchema(words: SchemaWords): TSchema {
  return words.taggedUnion({
    custom: customTool(words),
    computer_20241022: namedTool(words, 'computer_20241022', 'computer', {
      display_width_px: Type.Integer(),
      display_height_px: Type.Integer(),
      display_number: words.optional(Type.Integer()),
    }),
    bash_20241022: namedTool(words, 'bash_20241022', 'bash'),
    text_editor_20241022: namedTool(words, 'text_editor_20241022', 'str_replace_editor'),
  });
}

function namedTool(words: SchemaWords, type: string, name: string, settings: TProperties = {}): TSchema {
  return words.object({
    type: Type.Literal(type),
    name: Type.Literal(name),
    ...settings,
    cache_control: words.optional(cacheControlSchema(words)),
  });
}

/** The vendor allows names of 128 characters where the contract says 64, and null for the type. */
function customTool(words: SchemaWords): TSchema {
  const isDocumented = words.mode === 'documented';
  const type = isDocumented ? Type.Literal('custom') : Type.Unsafe<'custom' | null>({ enum: ['custom', null] });
  return words.object({
    type: Type.Optional<TSchema>(type),
    name: Type.String({ minLength: 1, maxLength: isDocumented ? 64 : 128 }),
    description: words.optional(Type.String()),
    input_schema: Type.Object({}),
    cache_control: words.optional(cacheControlSchema(words)),
  });
}

export function toolChoiceSchema(words: SchemaWords): TSchema {
  const parallel = { disable_parallel_tool_use: words.optional(Type.Boolean()) };
  const choices = [
    words.object({ type: Type.Literal('auto'), ...parallel }),
    words.object({ type: Type.Literal('any'), ...parallel }),
    words.object({ type: Type.Literal('tool'), name: Type.String({ minLength: 1 }), ...parallel }),
  ];
  return Type.Union(words.mode === 'documented' ? choices : [...choices, words.object({ type: Type.Literal('none') })]);
}
