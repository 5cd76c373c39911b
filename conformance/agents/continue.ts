import type { AgentProgram } from './agent-program.ts';

/** It uses Responses for models that it knows to support it, and chat completions for others. */
const ways = [
  { dialect: 'openai-responses', model: 'gpt-5.2' },
  { dialect: 'openai-chat', model: 'gpt-4.1' },
] as const;

export const continuePrograms: readonly AgentProgram[] = ways.map(({ dialect, model }) => ({
  title: `continue (${model})`,
  package: '@continuedev/cli',
  version: '1.5.47',
  binary: 'cn',
  dialect,
  setUp: ({ gatewayUrl, apiKey, home }) => ({
    files: {
      // JSON is YAML.
      '.continue/config.yaml': JSON.stringify({
        name: 'weir',
        version: '1.0.0',
        schema: 'v1',
        models: [
          { name: 'weir', provider: 'openai', model, apiBase: `${gatewayUrl}/v1`, apiKey, roles: ['chat'], capabilities: ['tool_use'] },
        ],
      }),
    },
    environment: { CONTINUE_TELEMETRY_ENABLED: '0' },
    command: (prompt) => ['--config', `${home}/.continue/config.yaml`, '-p', prompt],
  }),
  readTool: { name: 'Read', arguments: (file) => ({ filepath: file }) },
}));
