import Type, { type TProperties, type TSchema } from 'typebox';

/** An object with only known members: the vendor permits no extra inputs inside. */
const closed = <Properties extends TProperties>(properties: Properties) => Type.Object(properties, { additionalProperties: false });
const open = Type.Object({});
const optional = Type.Optional;
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const cacheControl = nullable(closed({ type: Type.Literal('ephemeral'), ttl: optional(Type.Enum(['5m', '1h'])) }));
const cachedBlock = <const Name extends string, Properties extends TProperties>(type: Name, properties: Properties) =>
  closed({ type: Type.Literal(type), ...properties, cache_control: cacheControl });

const textBlock = cachedBlock('text', { text: Type.String(), citations: nullable(Type.Array(open)) });
const imageBlock = cachedBlock('image', {
  source: Type.Union([
    closed({
      type: Type.Literal('base64'),
      media_type: Type.Enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: Type.String({ minLength: 1 }),
    }),
    closed({ type: Type.Literal('url'), url: Type.String({ minLength: 1 }) }),
    closed({ type: Type.Literal('file'), file_id: Type.String({ minLength: 1 }) }),
  ]),
});
const documentBlock = cachedBlock('document', {
  source: Type.Union([
    closed({ type: Type.Literal('base64'), media_type: Type.Literal('application/pdf'), data: Type.String({ minLength: 1 }) }),
    closed({ type: Type.Literal('text'), media_type: Type.Literal('text/plain'), data: Type.String() }),
    closed({ type: Type.Literal('content'), content: Type.Union([Type.String(), Type.Array(Type.Union([textBlock, imageBlock]))]) }),
    closed({ type: Type.Literal('url'), url: Type.String({ minLength: 1 }) }),
    closed({ type: Type.Literal('file'), file_id: Type.String({ minLength: 1 }) }),
  ]),
  title: nullable(Type.String({ minLength: 1, maxLength: 500 })),
  context: nullable(Type.String({ minLength: 1 })),
  citations: nullable(closed({ enabled: optional(Type.Boolean()) })),
});
const searchResultBlock = cachedBlock('search_result', {
  source: Type.String(),
  title: Type.String(),
  content: Type.Array(textBlock),
  citations: nullable(closed({ enabled: optional(Type.Boolean()) })),
});
const toolReferenceBlock = cachedBlock('tool_reference', { tool_name: Type.String() });
const toolUseBlock = cachedBlock('tool_use', {
  id: Type.String({ pattern: '^[a-zA-Z0-9_-]+$' }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  input: open,
  caller: nullable(open),
});
const toolResultBlock = cachedBlock('tool_result', {
  tool_use_id: Type.String({ pattern: '^[a-zA-Z0-9_-]+$' }),
  content: optional(
    Type.Union([Type.String(), Type.Array(Type.Union([textBlock, imageBlock, documentBlock, searchResultBlock, toolReferenceBlock]))]),
  ),
  is_error: optional(Type.Boolean()),
});
const thinkingBlock = closed({ type: Type.Literal('thinking'), thinking: Type.String(), signature: Type.String() });
const redactedThinkingBlock = closed({ type: Type.Literal('redacted_thinking'), data: Type.String() });

/** Blocks of the vendor's own tools and of betas, which the simulator accepts without validation. */
const otherBlocks = [
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'container_upload',
  'compaction',
  'mcp_tool_use',
  'mcp_tool_result',
  'tool_addition',
  'tool_removal',
  'fallback',
  'advisor_tool_result',
].map((type) => Type.Object({ type: Type.Literal(type) }));

const contentBlock = Type.Union([
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  toolUseBlock,
  toolResultBlock,
  thinkingBlock,
  redactedThinkingBlock,
  ...otherBlocks,
]);

const message = closed({
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Type.Union([Type.String(), Type.Array(contentBlock)]),
});

const customTool = closed({
  type: nullable(Type.Literal('custom')),
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-zA-Z0-9_-]{1,128}$' }),
  description: optional(Type.String()),
  input_schema: Type.Object({ type: Type.Literal('object') }),
  cache_control: cacheControl,
  strict: nullable(Type.Boolean()),
  defer_loading: nullable(Type.Boolean()),
  allowed_callers: nullable(Type.Array(Type.String())),
  eager_input_streaming: nullable(Type.Boolean()),
  input_examples: nullable(Type.Array(open)),
});

/** The vendor's own tools: type with its date, and the required name. */
const vendorTools = [
  ['bash', ['bash_20241022', 'bash_20250124']],
  ['str_replace_editor', ['text_editor_20241022', 'text_editor_20250124']],
  ['str_replace_based_edit_tool', ['text_editor_20250429', 'text_editor_20250728']],
  ['memory', ['memory_20250818']],
  ['web_search', ['web_search_20250305', 'web_search_20260209', 'web_search_20260318']],
  ['web_fetch', ['web_fetch_20250910', 'web_fetch_20260209', 'web_fetch_20260309', 'web_fetch_20260318']],
  ['code_execution', ['code_execution_20250522', 'code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521']],
  ['tool_search_tool_regex', ['tool_search_tool_regex_20251119']],
  ['tool_search_tool_bm25', ['tool_search_tool_bm25_20251119']],
].flatMap(([name, types]) =>
  (Array.isArray(types) ? types : []).map((type) =>
    Type.Object({ type: Type.Literal(type), name: Type.Literal(String(name)), cache_control: cacheControl }),
  ),
);
const screenTools = ['computer_20241022', 'computer_20250124', 'computer_20251124'].map((type) =>
  Type.Object({
    type: Type.Literal(type),
    name: Type.Literal('computer'),
    display_width_px: Type.Integer({ minimum: 1 }),
    display_height_px: Type.Integer({ minimum: 1 }),
    display_number: nullable(Type.Integer({ minimum: 0 })),
    cache_control: cacheControl,
  }),
);
const toolsets = ['computer_toolset_20260801', 'browser_toolset_20260801', 'mcp_toolset'].map((type) =>
  Type.Object({ type: Type.Literal(type) }),
);
const tool = Type.Union([customTool, ...vendorTools, ...screenTools, ...toolsets]);

const parallel = { disable_parallel_tool_use: optional(Type.Boolean()) };
const toolChoice = Type.Union([
  closed({ type: Type.Literal('auto'), ...parallel }),
  closed({ type: Type.Literal('any'), ...parallel }),
  closed({ type: Type.Literal('tool'), name: Type.String(), ...parallel }),
  closed({ type: Type.Literal('none') }),
]);

const display = nullable(Type.Enum(['summarized', 'omitted', 'updates']));
const thinking = Type.Union([
  closed({ type: Type.Literal('enabled'), budget_tokens: Type.Integer({ minimum: 1024 }), display }),
  closed({ type: Type.Literal('adaptive'), display }),
  closed({ type: Type.Literal('between_tools'), display }),
  closed({ type: Type.Literal('disabled') }),
]);

const jsonSchemaFormat = closed({ type: Type.Literal('json_schema'), schema: open });
const outputConfig = closed({
  effort: nullable(Type.Enum(['low', 'medium', 'high', 'xhigh', 'max'])),
  format: nullable(jsonSchemaFormat),
  task_budget: nullable(open),
});

const thread = Type.Union([
  closed({ type: Type.Literal('create') }),
  closed({ type: Type.Literal('continue'), previous_message_id: Type.String({ minLength: 1 }) }),
]);

const shared = {
  model: Type.String({ minLength: 1, maxLength: 256 }),
  messages: Type.Array(message),
  system: optional(Type.Union([Type.String(), Type.Array(textBlock)])),
  tools: optional(Type.Array(tool)),
  tool_choice: nullable(toolChoice),
  thinking: nullable(thinking),
  cache_control: cacheControl,
  output_config: nullable(outputConfig),
  output_format: nullable(jsonSchemaFormat),
  context_management: nullable(open),
  mcp_servers: optional(Type.Array(open)),
  speed: nullable(Type.Enum(['standard', 'fast'])),
  billing_policy: nullable(Type.Union([open, Type.String()])),
  compaction: nullable(open),
  user_profile_id: nullable(Type.String()),
  workspace_id: nullable(Type.String()),
};

/** Body of POST /v1/messages. */
export const messagesSchema = closed({
  ...shared,
  max_tokens: Type.Integer({ minimum: 0 }),
  metadata: nullable(closed({ user_id: nullable(Type.String({ maxLength: 512 })) })),
  stop_sequences: nullable(Type.Array(Type.String())),
  stream: nullable(Type.Boolean()),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: nullable(Type.Integer({ minimum: 0 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  service_tier: nullable(Type.Enum(['auto', 'standard_only'])),
  container: nullable(Type.Union([Type.String(), open])),
  thread: nullable(thread),
  fallbacks: nullable(Type.Array(open)),
  fallback_credit_token: nullable(Type.String()),
  inference_geo: nullable(Type.String()),
  diagnostics: nullable(open),
  safeguards: nullable(open),
});

/** Body of POST /v1/messages/count_tokens: without output, and without output limits. */
export const countTokensSchema = closed(shared);

export type MessagesRequest = Type.Static<typeof messagesSchema>;
