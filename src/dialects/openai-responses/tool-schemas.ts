import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { literal, orNull } from '../schema-builders.ts';
import type { SchemaKit } from '../schema-builders.ts';

const attributeKey = Type.String();
const comparisonWords = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'];
const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

/** A filter over file attributes: a comparison, or filters joined by and/or, nested as deep as the body may be. */
function createFilterSchema(kit: SchemaKit): TSchema {
  const list = Type.Array(Type.Union([Type.String(), Type.Number()]));
  const comparison = kit.object({
    key: attributeKey,
    type: kit.words(comparisonWords, ['in', 'nin']),
    value: kit.isCompatible ? Type.Union([scalar, list]) : scalar,
  });
  const compound = kit.object({ type: kit.words(['and', 'or']), filters: Type.Array(Type.Ref('Filter')) });
  return Type.Cyclic({ Filter: Type.Union([comparison, compound]) }, 'Filter');
}

function createUserLocation(kit: SchemaKit): TSchema {
  const optionalString = kit.optional(Type.String());
  return kit.object({
    type: kit.requiredByContract(literal('approximate')),
    city: optionalString,
    country: kit.optional(Type.String({ pattern: '^[A-Za-z]{2}$' })),
    region: optionalString,
    timezone: kit.optional(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$' })),
  });
}

function createWebSearchTools(kit: SchemaKit): Readonly<Record<string, TSchema>> {
  const common = {
    search_context_size: kit.optional(kit.words(['low', 'medium', 'high'])),
    user_location: kit.optional(createUserLocation(kit)),
  };
  const preview = (type: string): TSchema =>
    kit.object({ type: literal(type), ...common, domains: kit.optional(Type.Array(Type.String())) });
  const documented = {
    web_search_preview: preview('web_search_preview'),
    web_search_preview_2025_03_11: preview('web_search_preview_2025_03_11'),
  };
  if (!kit.isCompatible) return documented;
  const domains = orNull(Type.Array(Type.String()));
  const filters = kit.optional(Type.Object({ allowed_domains: domains, blocked_domains: domains }));
  const access = { external_web_access: orNull(Type.Boolean()), search_content_types: orNull(Type.Array(Type.String())) };
  const current = (type: string): TSchema => kit.object({ type: literal(type), ...common, filters, ...access });
  return { ...documented, web_search: current('web_search'), web_search_2025_08_26: current('web_search_2025_08_26') };
}

/** One entry of `tools`. */
export function createToolSchema(kit: SchemaKit): TSchema {
  const rankingOptions = kit.object({
    ranker: kit.optional(Type.String()),
    score_threshold: kit.optional(Type.Number({ minimum: 0, maximum: 1 })),
  });
  const parameters = Type.Object({});
  const loading = { defer_loading: orNull(Type.Boolean()), allowed_callers: orNull(Type.Array(Type.String())) };
  return kit.variants({
    function: kit.object(
      {
        type: literal('function'),
        name: Type.String({ minLength: 1 }),
        parameters: kit.isCompatible ? Type.Union([parameters, Type.Null()]) : parameters,
        strict: kit.requiredByContract(Type.Boolean()),
        description: kit.optional(Type.String()),
      },
      { output_schema: orNull(Type.Object({})), ...loading },
    ),
    ...(kit.isCompatible && {
      custom: Type.Object({
        type: literal('custom'),
        name: Type.String({ minLength: 1 }),
        description: orNull(Type.String()),
        format: orNull(Type.Object({ type: Type.String() })),
        ...loading,
      }),
      code_interpreter: Type.Object({
        type: literal('code_interpreter'),
        container: Type.Optional(
          Type.Union([Type.String(), Type.Object({ type: orNull(Type.String()), memory_limit: orNull(Type.String()) }), Type.Null()]),
        ),
      }),
    }),
    file_search: kit.object({
      type: literal('file_search'),
      vector_store_ids: Type.Array(Type.String()),
      filters: kit.optional(createFilterSchema(kit)),
      max_num_results: kit.optional(Type.Integer({ minimum: 1, maximum: 50 })),
      ranking_options: kit.optional(rankingOptions),
    }),
    ...createWebSearchTools(kit),
    computer_use_preview: kit.object({
      type: literal('computer_use_preview'),
      display_height: Type.Integer({ minimum: 1 }),
      display_width: Type.Integer({ minimum: 1 }),
      environment: Type.String(),
    }),
  });
}

/** `tool_choice`: a mode, or the tool to use. */
export function createToolChoiceSchema(kit: SchemaKit): TSchema {
  const mode = kit.words(['none', 'auto', 'required']);
  const functionChoice = kit.object({ type: literal('function'), name: Type.String({ minLength: 1 }) });
  const hosted = ['file_search', 'web_search_preview', 'computer_use_preview'];
  if (!kit.isCompatible) return Type.Union([mode, kit.object({ type: kit.words(hosted) }), functionChoice]);
  const choice = kit.variants({
    function: functionChoice,
    custom: kit.object({ type: literal('custom'), name: Type.String({ minLength: 1 }) }),
    mcp: kit.object({ type: literal('mcp'), server_label: Type.String({ minLength: 1 }) }),
    allowed_tools: kit.object({
      type: literal('allowed_tools'),
      mode: kit.words(['auto', 'required']),
      tools: Type.Array(Type.Object({})),
    }),
  });
  return Type.Union([mode, choice]);
}
