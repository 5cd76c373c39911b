import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { findFile, patchGrammar, readFile, titleSchema, uppercaseSchema } from './tool-samples.ts';

/** JSON from outside, which may hold anything. */
type Wire = Record<string, unknown>;

/** A recorded request of a program, reduced to its unusual parts. */
export type OddRequest = {
  readonly title: string;
  readonly dialect: DialectId;
  readonly path: (model: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: (model: string) => Wire;
  /**
   * Terms that the warning must name, by the upstream's dialect. An upstream without an entry accepts the whole
   * request.
   */
  readonly warns?: Partial<Record<DialectId, RegExp>>;
  /** The expected translation, by the upstream's dialect: text that must be in the body that arrived there. */
  readonly arrives?: Partial<Record<DialectId, RegExp>>;
};

export const claudeHeaders = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-system-2026-04-07,effort-2025-11-24,a-beta-of-tomorrow-2027-01-01',
  'anthropic-dangerous-direct-browser-access': 'true',
  'x-app': 'cli',
  'x-claude-code-session-id': '5b4d5a7c-0000-4000-8000-000000000000',
  'x-stainless-lang': 'js',
} as const;

const messages = { dialect: 'anthropic-messages', path: () => '/v1/messages?beta=true', headers: claudeHeaders } as const;
const responses = {
  dialect: 'openai-responses',
  path: () => '/v1/responses',
  headers: { originator: 'codex_exec', 'x-codex-beta-features': 'remote_compaction_v2', accept: 'text/event-stream', 'session-id': 's1' },
} as const;
const chat = { dialect: 'openai-chat', path: () => '/v1/chat/completions' } as const;
const generate = {
  dialect: 'gemini-generate-content',
  headers: { 'x-goog-api-client': 'google-genai-sdk/1.30.0 gl-node/v20.20.2', 'x-gemini-api-privileged-user-id': 'u1' },
} as const;
const streamed = (model: string): string => `/v1beta/models/${model}:streamGenerateContent?alt=sse`;
const whole = (model: string): string => `/v1beta/models/${model}:generateContent`;

const cached = { cache_control: { type: 'ephemeral' } };
const user = (text: string): Wire => ({ role: 'user', content: [{ type: 'text', text }] });
const codexMetadata = { internal_chat_message_metadata_passthrough: { turn_id: '01a1ffb0' } };
const codexMessage = (role: string, text: string): Wire => ({
  type: 'message',
  id: `msg_${role}`,
  role,
  content: [{ type: 'input_text', text }],
  ...codexMetadata,
});

const claudeRequests: readonly OddRequest[] = [
  {
    ...messages,
    title: 'Claude Code: the main call with adaptive thinking, effort, context management and a system turn at the end',
    body: (model) => ({
      model,
      max_tokens: 64_000,
      stream: true,
      system: [{ type: 'text', text: 'You are an agent.', ...cached }],
      messages: [user('Hello'), { role: 'system', content: 'Available agents: claude.' }],
      tools: [
        { name: 'Read', description: 'Reads a file.', input_schema: readFile, eager_input_streaming: true },
        { name: 'Find', description: 'Finds a file.', input_schema: findFile, ...cached },
      ],
      metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
      thinking: { type: 'adaptive', display: 'omitted' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: 'high' },
    }),
    warns: {
      'openai-responses': /dropped context_management .+dropped tools\.1\.cache_control/,
      'openai-chat': /dropped thinking/,
      'gemini-generate-content': /adapted messages\.1/,
    },
    arrives: {
      'anthropic-messages': /"role":"system"/,
      'openai-responses': /"effort":"high"/,
      'openai-chat': /"role":"system","content":"Available agents/,
      'gemini-generate-content': /Available agents/,
    },
  },
  {
    ...messages,
    title: 'Claude Code: tools whose definitions are loaded later',
    body: (model) => ({
      model,
      max_tokens: 1000,
      stream: true,
      messages: [user('Hello')],
      tools: [
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
        { name: 'Read', description: 'Reads a file.', input_schema: readFile },
        { name: 'Find', description: 'Finds a file.', input_schema: findFile, defer_loading: true },
      ],
    }),
    arrives: { 'openai-responses': /"Find"/, 'openai-chat': /"Find"/, 'gemini-generate-content': /"Find"/ },
    warns: {
      'openai-responses': /dropped tools\.0/,
      'openai-chat': /dropped tools\.0/,
      'gemini-generate-content': /dropped tools\.0/,
    },
  },
  {
    ...messages,
    title: 'Claude Code: the title of a session by schema',
    body: (model) => ({
      model,
      max_tokens: 64_000,
      stream: true,
      system: [{ type: 'text', text: 'Name the session.' }],
      messages: [user('<session>\nHello\n</session>')],
      tools: [],
      thinking: { type: 'disabled' },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: titleSchema } },
    }),
    warns: { 'openai-responses': /adapted thinking/ },
    arrives: { 'openai-responses': /json_schema/, 'openai-chat': /json_schema/, 'gemini-generate-content': /"title"/ },
  },
  {
    ...messages,
    title: 'Claude Code: the probe that asks for one token',
    body: (model) => ({ model, max_tokens: 1, messages: [{ role: 'user', content: 'quota' }] }),
    warns: { 'openai-responses': /adapted max_tokens/ },
  },
];

const codexRequests: readonly OddRequest[] = [
  {
    ...responses,
    title: 'Codex: its main call with tools of every type',
    body: (model) => ({
      model,
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: '01a1ffb0',
      client_metadata: { session_id: '01a1ffb0', 'x-codex-window-id': '01a1ffb0:0' },
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'medium', summary: 'auto' },
      text: { verbosity: 'low' },
      input: [
        codexMessage('developer', 'You are a coding agent.'),
        codexMessage('user', '<environment_context></environment_context>'),
        codexMessage('user', 'Hello'),
      ],
      tools: [
        { type: 'function', name: 'exec_command', description: 'Runs a command.', strict: false, parameters: findFile },
        {
          type: 'namespace',
          name: 'multi_agent_v1',
          description: 'Agents.',
          tools: [{ type: 'function', name: 'spawn_agent', description: 'Spawns.', strict: false, parameters: readFile }],
        },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Edits files.',
          format: { type: 'grammar', syntax: 'lark', definition: patchGrammar },
        },
        { type: 'web_search', external_web_access: false },
      ],
    }),
    warns: { 'anthropic-messages': /tools/, 'openai-chat': /tools/, 'gemini-generate-content': /tools/ },
    arrives: { 'anthropic-messages': /spawn_agent/, 'openai-chat': /spawn_agent/, 'gemini-generate-content': /spawn_agent/ },
  },
  {
    ...responses,
    title: 'Responses: sixteen tokens are the minimum here, and nowhere else',
    body: (model) => ({ model, max_output_tokens: 16, input: 'Hello' }),
  },
];

const geminiRequests: readonly OddRequest[] = [
  {
    ...generate,
    title: 'Gemini CLI: the router call with a schema in capitals',
    path: whole,
    body: () => ({
      contents: [
        { role: 'user', parts: [{ text: '<session_context></session_context>' }] },
        { role: 'user', parts: [{ text: 'Hello' }] },
      ],
      systemInstruction: { role: 'user', parts: [{ text: 'Assign a score.' }] },
      generationConfig: {
        temperature: 1,
        topP: 0.95,
        topK: 64,
        responseMimeType: 'application/json',
        responseJsonSchema: uppercaseSchema,
        thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
      },
    }),
    warns: {
      'anthropic-messages': /dropped generationConfig\.topK/,
      'openai-responses': /dropped generationConfig\.topK/,
      'openai-chat': /dropped generationConfig\.topK/,
    },
    arrives: { 'anthropic-messages': /"type":"integer"/, 'openai-responses': /"type":"integer"/, 'openai-chat': /"type":"integer"/ },
  },
  {
    ...generate,
    title: 'Gemini CLI: the main call with JSON schemas of tools',
    path: streamed,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: '<session_context></session_context>' }, { text: 'Hello' }] }],
      tools: [
        {
          functionDeclarations: [
            { name: 'read_file', description: 'Reads.', parametersJsonSchema: readFile },
            { name: 'list_directory', description: 'Lists.', parametersJsonSchema: findFile },
          ],
        },
      ],
      generationConfig: { temperature: 1, topP: 0.95, topK: 64, thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } },
    }),
    warns: {
      'anthropic-messages': /dropped generationConfig\.topK/,
      'openai-responses': /dropped generationConfig\.topK/,
      'openai-chat': /dropped generationConfig\.topK/,
    },
  },
  {
    ...generate,
    title: 'generate-content: a probe that asks for one token',
    path: whole,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 1 } }),
    warns: { 'openai-responses': /adapted generationConfig\.maxOutputTokens/ },
  },
];

const chatRequests: readonly OddRequest[] = [
  {
    ...chat,
    title: 'opencode: a chat stream that asks for its usage',
    body: (model) => ({
      model,
      max_completion_tokens: 32_000,
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: 'auto',
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: 'Hello' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: readFile } }],
    }),
  },
  {
    ...chat,
    title: 'chat: a probe that asks for one token',
    body: (model) => ({ model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }),
    warns: { 'openai-responses': /adapted max_completion_tokens/ },
  },
];

export const oddRequests: readonly OddRequest[] = [...claudeRequests, ...codexRequests, ...geminiRequests, ...chatRequests];
