import Type, { type Static, type TProperties, type TSchema } from 'typebox';

// The vendor's format as its API description of 2026-08 and recorded refusals show it. Objects are closed where the
// vendor refuses unknown parameters. Kinds of items and tools that the simulated model never produces are known by name
// and otherwise open.

const closed = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false });
const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
/** Optional, and null means the same as absent. */
const nullable = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));
const open = <T extends string>(type: T) => Type.Object({ type: Type.Literal(type) }, { additionalProperties: true });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const itemStatus = nullable(Type.Enum(['in_progress', 'completed', 'incomplete']));
const breakpoint = { prompt_cache_breakpoint: nullable(jsonObject) };

const inputText = closed({ type: Type.Literal('input_text'), text: Type.String({ maxLength: 10_485_760 }), ...breakpoint });
const inputImage = closed({
  type: Type.Literal('input_image'),
  detail: nullable(Type.Enum(['low', 'high', 'auto', 'original'])),
  image_url: nullable(Type.String({ maxLength: 20_971_520 })),
  file_id: nullable(Type.String()),
  ...breakpoint,
});
const inputFile = closed({
  type: Type.Literal('input_file'),
  file_data: nullable(Type.String()),
  file_id: nullable(Type.String()),
  file_url: nullable(Type.String()),
  filename: nullable(Type.String()),
  detail: nullable(Type.String()),
  ...breakpoint,
});
const inputAudio = closed({
  type: Type.Literal('input_audio'),
  input_audio: closed({ data: Type.String(), format: Type.Enum(['mp3', 'wav']) }),
});
const outputText = closed({
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: nullable(Type.Array(Type.Unknown())),
  logprobs: nullable(Type.Array(Type.Unknown())),
  // Members that an SDK's parse helper adds to replies that callers send back.
  parsed: optional(Type.Unknown()),
});
const refusal = closed({ type: Type.Literal('refusal'), refusal: Type.String() });
const contentPart = Type.Union([inputText, inputImage, outputText, refusal, inputFile, inputAudio]);
const outputParts = Type.Array(Type.Union([inputText, inputImage, inputFile]));

/** Members that the vendor's own agent program adds to every item. */
const agentMembers = { internal_chat_message_metadata_passthrough: nullable(jsonObject) };
const messageMembers = {
  role: Type.Enum(['assistant', 'system', 'developer', 'user']),
  content: Type.Union([Type.String(), Type.Array(contentPart)]),
  id: nullable(Type.String()),
  status: itemStatus,
  phase: nullable(Type.Enum(['commentary', 'final_answer'])),
  ...agentMembers,
};
const callId = Type.String({ minLength: 1, maxLength: 64 });
const callOutput = {
  id: nullable(Type.String()),
  call_id: callId,
  output: Type.Union([Type.String({ maxLength: 10_485_760 }), outputParts]),
  status: itemStatus,
  name: nullable(Type.String({ maxLength: 128 })),
  namespace: nullable(Type.String({ maxLength: 64 })),
  caller: nullable(jsonObject),
  ...agentMembers,
};
const call = {
  id: nullable(Type.String()),
  call_id: callId,
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' }),
  namespace: nullable(Type.String()),
  caller: nullable(jsonObject),
  status: itemStatus,
  ...agentMembers,
};

const openItems = [
  'apply_patch_call',
  'apply_patch_call_output',
  'additional_tools',
  'code_interpreter_call',
  'compaction',
  'compaction_trigger',
  'computer_call',
  'computer_call_output',
  'file_search_call',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'mcp_list_tools',
  'program',
  'program_output',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
] as const;

const inputItem = Type.Union([
  // The only item without a required type, so it comes first: an item without a type is validated as a message.
  closed({ type: optional(Type.Literal('message')), ...messageMembers }),
  closed({ type: Type.Literal('function_call'), arguments: Type.String(), parsed_arguments: optional(Type.Unknown()), ...call }),
  closed({ type: Type.Literal('function_call_output'), ...callOutput }),
  closed({ type: Type.Literal('custom_tool_call'), input: Type.String(), ...call }),
  closed({ type: Type.Literal('custom_tool_call_output'), ...callOutput }),
  closed({
    type: Type.Literal('reasoning'),
    id: nullable(Type.String()),
    summary: Type.Array(closed({ type: Type.Literal('summary_text'), text: Type.String() })),
    content: nullable(Type.Array(closed({ type: Type.Literal('reasoning_text'), text: Type.String() }))),
    encrypted_content: nullable(Type.String()),
    status: itemStatus,
    ...agentMembers,
  }),
  closed({ type: Type.Literal('item_reference'), id: Type.String() }),
  ...openItems.map(open),
]);

const userLocation = nullable(
  closed({
    type: Type.Literal('approximate'),
    city: nullable(Type.String()),
    country: nullable(Type.String()),
    region: nullable(Type.String()),
    timezone: nullable(Type.String()),
  }),
);
const searchContextSize = nullable(Type.Enum(['low', 'medium', 'high']));
const callers = { defer_loading: nullable(Type.Boolean()), allowed_callers: nullable(Type.Array(Type.Unknown())) };

const functionTool = closed({
  type: Type.Literal('function'),
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' }),
  description: nullable(Type.String()),
  parameters: nullable(jsonObject),
  output_schema: nullable(jsonObject),
  strict: nullable(Type.Boolean()),
  ...callers,
});
const customTool = closed({
  type: Type.Literal('custom'),
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: nullable(Type.String()),
  format: nullable(jsonObject),
  ...callers,
});
const webSearchTool = <T extends string>(type: T) =>
  closed({
    type: Type.Literal(type),
    user_location: userLocation,
    search_context_size: searchContextSize,
    filters: nullable(
      closed({ allowed_domains: nullable(Type.Array(Type.String())), blocked_domains: nullable(Type.Array(Type.String())) }),
    ),
    external_web_access: nullable(Type.Boolean()),
    search_content_types: nullable(Type.Array(Type.String())),
    indexed_web_access: nullable(Type.Boolean()),
  });

const tool = Type.Union([
  functionTool,
  customTool,
  closed({
    type: Type.Literal('namespace'),
    name: Type.String({ minLength: 1 }),
    description: nullable(Type.String()),
    tools: Type.Array(Type.Union([functionTool, customTool]), { minItems: 1 }),
  }),
  webSearchTool('web_search'),
  webSearchTool('web_search_2025_08_26'),
  webSearchTool('web_search_preview'),
  webSearchTool('web_search_preview_2025_03_11'),
  closed({
    type: Type.Literal('file_search'),
    vector_store_ids: Type.Array(Type.String()),
    max_num_results: nullable(Type.Integer({ minimum: 1, maximum: 50 })),
    ranking_options: nullable(jsonObject),
    filters: nullable(jsonObject),
  }),
  closed({
    type: Type.Literal('computer_use_preview'),
    display_width: Type.Integer(),
    display_height: Type.Integer(),
    environment: Type.Enum(['windows', 'mac', 'linux', 'ubuntu', 'browser']),
  }),
  Type.Object({ type: Type.Literal('code_interpreter'), container: Type.Union([Type.String(), jsonObject]) }),
  Type.Object({ type: Type.Literal('mcp'), server_label: Type.String() }),
  ...(['apply_patch', 'computer', 'image_generation', 'local_shell', 'programmatic_tool_calling', 'shell', 'tool_search'] as const).map(
    open,
  ),
]);

const toolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  closed({ type: Type.Literal('function'), name: Type.String() }),
  closed({ type: Type.Literal('custom'), name: Type.String() }),
  closed({ type: Type.Literal('allowed_tools'), mode: Type.Enum(['auto', 'required']), tools: Type.Array(jsonObject) }),
  closed({ type: Type.Literal('mcp'), server_label: Type.String(), name: nullable(Type.String()) }),
  ...(
    [
      'apply_patch',
      'code_interpreter',
      'computer',
      'computer_use',
      'computer_use_preview',
      'file_search',
      'image_generation',
      'programmatic_tool_calling',
      'shell',
      'web_search',
      'web_search_2025_08_26',
      'web_search_preview',
      'web_search_preview_2025_03_11',
    ] as const
  ).map(open),
]);

const textFormat = Type.Union([
  closed({ type: Type.Literal('text') }),
  closed({ type: Type.Literal('json_object') }),
  closed({
    type: Type.Literal('json_schema'),
    name: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' }),
    schema: jsonObject,
    description: nullable(Type.String()),
    strict: nullable(Type.Boolean()),
  }),
]);

const summaryStyle = nullable(Type.Enum(['auto', 'concise', 'detailed']));
const reasoning = closed({
  effort: nullable(Type.Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
  summary: summaryStyle,
  generate_summary: summaryStyle,
  context: nullable(Type.Enum(['auto', 'current_turn', 'all_turns'])),
  mode: nullable(Type.String()),
});

const include = Type.Enum([
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
]);

/** The body of POST /v1/responses. */
export const responsesRequestSchema = closed({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String(), Type.Array(inputItem)]),
  instructions: nullable(Type.String()),
  previous_response_id: nullable(Type.String()),
  conversation: nullable(Type.Union([Type.String(), closed({ id: Type.String() })])),
  background: nullable(Type.Boolean()),
  include: nullable(Type.Array(include)),
  max_output_tokens: nullable(Type.Integer({ minimum: 16 })),
  max_tool_calls: nullable(Type.Integer({ minimum: 1 })),
  metadata: nullable(Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), { maxProperties: 16 })),
  parallel_tool_calls: nullable(Type.Boolean()),
  reasoning: nullable(reasoning),
  service_tier: nullable(Type.Enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])),
  store: nullable(Type.Boolean()),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(closed({ include_obfuscation: nullable(Type.Boolean()) })),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: 20 })),
  text: nullable(closed({ format: nullable(textFormat), verbosity: nullable(Type.Enum(['low', 'medium', 'high'])) })),
  tool_choice: nullable(toolChoice),
  tools: nullable(Type.Array(tool)),
  truncation: nullable(Type.Enum(['auto', 'disabled'])),
  user: nullable(Type.String()),
  safety_identifier: nullable(Type.String({ maxLength: 64 })),
  prompt: nullable(closed({ id: Type.String(), version: nullable(Type.String()), variables: nullable(jsonObject) })),
  prompt_cache_key: nullable(Type.String()),
  prompt_cache_retention: nullable(Type.Enum(['in_memory', 'in-memory', '24h'])),
  prompt_cache_options: nullable(jsonObject),
  context_management: nullable(Type.Array(jsonObject, { minItems: 1 })),
  moderation: nullable(jsonObject),
  // Not in the API description; agent programs send it and the vendor accepts it.
  client_metadata: nullable(jsonObject),
});

export type ResponsesRequest = Static<typeof responsesRequestSchema>;
export type ResponsesTool = Static<typeof tool>;
