import { Type, type TProperties, type TSchema } from 'typebox';
import { literal, type SchemaKit } from '../schema-kit.ts';
import { cacheControlSchema } from './request-blocks.ts';

/** One entry of `tools`. A tool without a type is the caller's own; the other three carry the name that their type prescribes. */
export function toolSchema(kit: SchemaKit): TSchema {
  return kit.variants({
    custom: customTool(kit),
    computer_20241022: namedTool(kit, 'computer_20241022', 'computer', {
      display_width_px: Type.Integer(),
      display_height_px: Type.Integer(),
      display_number: kit.optional(Type.Integer()),
    }),
    bash_20241022: namedTool(kit, 'bash_20241022', 'bash'),
    text_editor_20241022: namedTool(kit, 'text_editor_20241022', 'str_replace_editor'),
  });
}

function namedTool(kit: SchemaKit, type: string, name: string, settings: TProperties = {}): TSchema {
  return kit.object({
    type: Type.Literal(type),
    name: Type.Literal(name),
    ...settings,
    cache_control: kit.optional(cacheControlSchema(kit)),
  });
}

/** The vendor allows names of 128 characters where the contract says 64, and null for the type. */
function customTool(kit: SchemaKit): TSchema {
  return kit.object({
    type: kit.optional(literal('custom')),
    name: Type.String({ minLength: 1, maxLength: kit.isCompatible ? 128 : 64 }),
    description: kit.optional(Type.String()),
    input_schema: Type.Object({}),
    cache_control: kit.optional(cacheControlSchema(kit)),
  });
}

export function toolChoiceSchema(kit: SchemaKit): TSchema {
  const parallel = { disable_parallel_tool_use: kit.optional(Type.Boolean()) };
  const choices = [
    kit.object({ type: Type.Literal('auto'), ...parallel }),
    kit.object({ type: Type.Literal('any'), ...parallel }),
    kit.object({ type: Type.Literal('tool'), name: Type.String({ minLength: 1 }), ...parallel }),
  ];
  return Type.Union(kit.isCompatible ? [...choices, kit.object({ type: Type.Literal('none') })] : choices);
}
