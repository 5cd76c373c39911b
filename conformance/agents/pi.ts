import type { AgentProgram } from './agent-program.ts';

/** The interfaces that it knows by these names, with the path that each appends. */
const ways = [
  { dialect: 'anthropic-messages', api: 'anthropic-messages', model: 'claude-sonnet-4-5', path: '' },
  { dialect: 'openai-responses', api: 'openai-responses', model: 'gpt-5.2', path: '/v1' },
  { dialect: 'openai-chat', api: 'openai-completions', model: 'gpt-4.1', path: '/v1' },
  { dialect: 'gemini-generate-content', api: 'google-generative-ai', model: 'gemini-2.5-flash', path: '/v1beta' },
] as const;

export const piPrograms: readonly AgentProgram[] = ways.map(({ dialect, api, model, path }) => ({
  title: `pi (${api})`,
  package: '@mariozechner/pi-coding-agent',
  version: '0.73.1',
  binary: 'pi',
  dialect,
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: {
      '.pi/agent/models.json': JSON.stringify({
        providers: { weir: { baseUrl: gatewayUrl + path, api, apiKey: 'WEIR_KEY', models: [{ id: model }] } },
      }),
    },
    environment: { WEIR_KEY: apiKey, PI_SKIP_VERSION_CHECK: '1' },
    command: (prompt) => ['--provider', 'weir', '--model', model, '-p', prompt],
  }),
  readTool: { name: 'read', arguments: (file) => ({ path: file }) },
}));
