import Type, { type TProperties, type TSchema } from 'typebox';

const closed = <Properties extends TProperties>(properties: Properties) => Type.Object(properties, { additionalProperties: false });
const open = Type.Object({});
const optional = Type.Optional;
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const textPart = closed({ type: Type.Literal('text'), text: Type.String() });
const refusalPart = closed({ type: Type.Literal('refusal'), refusal: Type.String() });
const imagePart = closed({
  type: Type.Literal('image_url'),
  image_url: closed({ url: Type.String({ minLength: 1 }), detail: optional(Type.Enum(['auto', 'low', 'high', 'original'])) }),
});
const audioPart = closed({
  type: Type.Literal('input_audio'),
  input_audio: closed({ data: Type.String({ minLength: 1 }), format: Type.Enum(['wav', 'mp3']) }),
});
const filePart = closed({
  type: Type.Literal('file'),
  file: closed({ file_data: optional(Type.String()), file_id: optional(Type.String()), filename: optional(Type.String()) }),
});

const texts = Type.Union([Type.String(), Type.Array(textPart)]);
const toolCall = Type.Union([
  closed({
    id: Type.String({ minLength: 1 }),
    type: Type.Literal('function'),
    // An SDK's parse helper adds `parsed_arguments`, here, and `parsed`, below, to replies that callers send back.
    function: closed({ name: Type.String({ minLength: 1 }), arguments: Type.String(), parsed_arguments: optional(Type.Unknown()) }),
  }),
  closed({
    id: Type.String({ minLength: 1 }),
    type: Type.Literal('custom'),
    custom: closed({ name: Type.String({ minLength: 1 }), input: Type.String() }),
  }),
]);
const assistantMembers = {
  role: Type.Literal('assistant'),
  content: nullable(Type.Union([Type.String(), Type.Array(Type.Union([textPart, refusalPart]))])),
  refusal: nullable(Type.String()),
  name: optional(Type.String()),
  audio: nullable(closed({ id: Type.String() })),
  // Replies have this member, and clients send whole replies back.
  annotations: nullable(Type.Array(open)),
  parsed: optional(Type.Unknown()),
  tool_calls: optional(Type.Array(toolCall, { minItems: 1 })),
  function_call: nullable(closed({ name: Type.String(), arguments: Type.String() })),
};

/** Permitted members of each role's message. Roles distinguish messages, so each is validated separately. */
export const messageSchemas = {
  developer: closed({ role: Type.Literal('developer'), content: texts, name: optional(Type.String()) }),
  system: closed({ role: Type.Literal('system'), content: texts, name: optional(Type.String()) }),
  user: closed({
    role: Type.Literal('user'),
    content: Type.Union([Type.String(), Type.Array(Type.Union([textPart, imagePart, audioPart, filePart]))]),
    name: optional(Type.String()),
  }),
  assistant: closed(assistantMembers),
  tool: closed({ role: Type.Literal('tool'), content: texts, tool_call_id: Type.String() }),
  function: closed({ role: Type.Literal('function'), content: Type.Union([Type.String(), Type.Null()]), name: Type.String() }),
};

/** An assistant's message in which reasoning may be returned as plain text. */
export const reasoningAssistantSchema = closed({ ...assistantMembers, reasoning_content: nullable(Type.String()) });

const functionName = Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' });
const tool = Type.Union([
  closed({
    type: Type.Literal('function'),
    function: closed({
      name: functionName,
      description: optional(Type.String()),
      parameters: optional(open),
      strict: nullable(Type.Boolean()),
    }),
  }),
  closed({ type: Type.Literal('custom'), custom: Type.Object({ name: functionName }) }),
]);
const toolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  closed({ type: Type.Literal('function'), function: closed({ name: Type.String() }) }),
  closed({ type: Type.Literal('custom'), custom: closed({ name: Type.String() }) }),
  closed({
    type: Type.Literal('allowed_tools'),
    allowed_tools: closed({ mode: Type.Enum(['auto', 'required']), tools: Type.Array(open) }),
  }),
]);
const responseFormat = Type.Union([
  closed({ type: Type.Literal('text') }),
  closed({ type: Type.Literal('json_object') }),
  closed({
    type: Type.Literal('json_schema'),
    json_schema: closed({
      name: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' }),
      description: optional(Type.String()),
      schema: optional(open),
      strict: nullable(Type.Boolean()),
    }),
  }),
]);

const members = {
  messages: Type.Array(Type.Object({ role: Type.Enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']) }), { minItems: 1 }),
  model: Type.String({ minLength: 1 }),
  tools: optional(Type.Array(tool)),
  tool_choice: nullable(toolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  response_format: nullable(responseFormat),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  reasoning_effort: nullable(Type.Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
  n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
  stop: nullable(Type.Union([Type.String(), Type.Array(Type.String())])),
  seed: nullable(Type.Integer()),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  presence_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: nullable(open),
  logprobs: nullable(Type.Boolean()),
  top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: 20 })),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(closed({ include_usage: nullable(Type.Boolean()), include_obfuscation: nullable(Type.Boolean()) })),
  verbosity: nullable(Type.Enum(['low', 'medium', 'high'])),
  service_tier: nullable(Type.Enum(['auto', 'default', 'flex', 'scale', 'priority'])),
  store: nullable(Type.Boolean()),
  metadata: nullable(open),
  user: nullable(Type.String()),
  safety_identifier: nullable(Type.String({ maxLength: 64 })),
  prompt_cache_key: nullable(Type.String()),
  prompt_cache_retention: nullable(Type.Enum(['in_memory', 'in-memory', '24h'])),
  prompt_cache_options: nullable(open),
  prediction: nullable(open),
  modalities: nullable(Type.Array(Type.Enum(['text', 'audio']))),
  audio: nullable(open),
  web_search_options: nullable(open),
  moderation: nullable(open),
  functions: optional(Type.Array(open, { minItems: 1 })),
  function_call: optional(Type.Union([Type.String(), open])),
};

/** Body of POST /v1/chat/completions, except the content of its messages. */
export const chatSchema = closed(members);

/** The same, where unknown members are accepted and ignored. */
export const looseChatSchema = Type.Object(members);

export type ChatRequest = Type.Static<typeof chatSchema>;
type StoredMessages = typeof messageSchemas;
export type ChatMessage =
  | Type.Static<StoredMessages['developer' | 'system']>
  | Type.Static<StoredMessages['user']>
  | Type.Static<typeof reasoningAssistantSchema>
  | Type.Static<StoredMessages['tool']>
  | Type.Static<StoredMessages['function']>;
