import { Type, type TProperties, type TSchema } from 'typebox';
import { literal, orNull, type SchemaKit } from '../schema-builders.ts';
import { cacheControlSchema } from './request-blocks.ts';

/**
 * One entry of `tools`. A tool without a type is the caller's own; the other three have the name that their type
 * prescribes.
 */
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
    ...(kit.isCompatible && furtherTools(kit)),
  });
}

/**
 * Tools of the vendor that the contract does not contain, in the versions with the most members. Later versions are
 * accepted too.
 */
function furtherTools(kit: SchemaKit): Readonly<Record<string, TSchema>> {
  const text = orNull(Type.String());
  const domains = orNull(Type.Array(Type.String()));
  const limits = { max_uses: orNull(Type.Integer({ minimum: 1 })), allowed_domains: domains, blocked_domains: domains };
  const location = Type.Object({ type: text, city: text, region: text, country: text, timezone: text });
  const hosted = (type: string, settings: TProperties = {}): TSchema =>
    Type.Object({ type: Type.Literal(type), name: Type.String(), ...settings, ...loading, cache_control: orNull(cacheControlSchema(kit)) });
  return {
    web_search_20250305: hosted('web_search_20250305', { ...limits, user_location: orNull(location) }),
    web_fetch_20250910: hosted('web_fetch_20250910', {
      ...limits,
      max_content_tokens: orNull(Type.Integer({ minimum: 1 })),
      citations: orNull(Type.Object({ enabled: orNull(Type.Boolean()) })),
    }),
    code_execution_20250825: hosted('code_execution_20250825'),
    computer_20251124: hosted('computer_20251124', {
      display_width_px: Type.Integer(),
      display_height_px: Type.Integer(),
      display_number: orNull(Type.Integer()),
      enable_zoom: orNull(Type.Boolean()),
    }),
    text_editor_20250728: hosted('text_editor_20250728', { max_characters: orNull(Type.Integer({ minimum: 1 })) }),
  };
}

/** How the vendor loads a tool, and which callers may use it. */
const loading: TProperties = {
  defer_loading: orNull(Type.Boolean()),
  allowed_callers: orNull(Type.Array(Type.String())),
};

function namedTool(kit: SchemaKit, type: string, name: string, settings: TProperties = {}): TSchema {
  return kit.object({
    type: Type.Literal(type),
    name: Type.Literal(name),
    ...settings,
    cache_control: kit.optional(cacheControlSchema(kit)),
  });
}

/** The vendor allows names of 128 characters (the contract 64), and null as the type. */
function customTool(kit: SchemaKit): TSchema {
  return kit.object(
    {
      type: kit.optional(literal('custom')),
      name: Type.String({ minLength: 1, maxLength: kit.isCompatible ? 128 : 64 }),
      description: kit.optional(Type.String()),
      input_schema: Type.Object({}),
      cache_control: kit.optional(cacheControlSchema(kit)),
    },
    {
      strict: orNull(Type.Boolean()),
      eager_input_streaming: orNull(Type.Boolean()),
      input_examples: orNull(Type.Array(Type.Object({}))),
      ...loading,
    },
  );
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
