import type { AgentProgram } from './agent-program.ts';

/** The four packages by which it calls a provider, with the path that each appends. */
const ways = [
  { dialect: 'anthropic-messages', npm: '@ai-sdk/anthropic', model: 'claude-sonnet-4-5', path: '/v1' },
  { dialect: 'openai-responses', npm: '@ai-sdk/openai', model: 'gpt-5.2', path: '/v1' },
  { dialect: 'openai-chat', npm: '@ai-sdk/openai-compatible', model: 'gpt-4.1', path: '/v1' },
  { dialect: 'gemini-generate-content', npm: '@ai-sdk/google', model: 'gemini-2.5-flash', path: '/v1beta' },
] as const;

export const opencodePrograms: readonly AgentProgram[] = ways.map(({ dialect, npm, model, path }) => ({
  title: `opencode (${npm})`,
  package: 'opencode-ai',
  version: '1.18.33',
  binary: 'opencode',
  dialect,
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
        $schema: 'https://opencode.ai/config.json',
        autoupdate: false,
        model: `weir/${model}`,
        provider: {
          weir: { npm, name: 'Weir', options: { baseURL: gatewayUrl + path, apiKey: '{env:WEIR_KEY}' }, models: { [model]: {} } },
        },
      }),
    },
    environment: { WEIR_KEY: apiKey, OPENCODE_DISABLE_MODELS_FETCH: '1' },
    command: (prompt) => ['run', prompt],
  }),
  readTool: { name: 'read', arguments: (file) => ({ filePath: file }) },
}));
