import type { AgentProgram } from './agent-program.ts';
import { continuePrograms } from './continue.ts';
import { opencodePrograms } from './opencode.ts';
import { piPrograms } from './pi.ts';

const claudeCode: AgentProgram = {
  title: 'claude',
  package: '@anthropic-ai/claude-code',
  version: '2.1.197',
  binary: 'claude',
  dialect: 'anthropic-messages',
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: {},
    environment: { ANTHROPIC_BASE_URL: gatewayUrl, ANTHROPIC_API_KEY: apiKey, DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1' },
    command: (prompt) => ['-p', prompt],
  }),
  readTool: { name: 'Read', arguments: (file) => ({ file_path: file }) },
};

/** Claude Code in the mode of a cloud, with a key of Weir in place of the cloud's credential. */
function claudeInCloud(title: string, set: (gatewayUrl: string, apiKey: string) => Readonly<Record<string, string>>): AgentProgram {
  return {
    ...claudeCode,
    title,
    isInCloudMode: true,
    setUp: ({ gatewayUrl, apiKey }) => ({
      files: {},
      environment: { ...set(gatewayUrl, apiKey), DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1' },
      command: (prompt) => ['-p', prompt],
    }),
  };
}

const claudeModes = [
  claudeInCloud('claude (Bedrock mode)', (gatewayUrl, apiKey) => ({
    CLAUDE_CODE_USE_BEDROCK: '1',
    AWS_REGION: 'us-east-1',
    ANTHROPIC_BEDROCK_BASE_URL: gatewayUrl,
    AWS_BEARER_TOKEN_BEDROCK: apiKey,
  })),
  claudeInCloud('claude (Vertex mode)', (gatewayUrl, apiKey) => ({
    CLAUDE_CODE_USE_VERTEX: '1',
    CLAUDE_CODE_SKIP_VERTEX_AUTH: '1',
    ANTHROPIC_VERTEX_PROJECT_ID: 'any',
    CLOUD_ML_REGION: 'global',
    ANTHROPIC_VERTEX_BASE_URL: `${gatewayUrl}/v1`,
    ANTHROPIC_AUTH_TOKEN: apiKey,
  })),
  claudeInCloud('claude (Foundry mode)', (gatewayUrl, apiKey) => ({
    CLAUDE_CODE_USE_FOUNDRY: '1',
    ANTHROPIC_FOUNDRY_BASE_URL: `${gatewayUrl}/anthropic`,
    ANTHROPIC_FOUNDRY_API_KEY: apiKey,
  })),
];

const codex = {
  package: '@openai/codex',
  version: '0.169.0',
  binary: 'codex',
  dialect: 'openai-responses',
  readTool: { name: 'exec_command', arguments: (file) => ({ cmd: `cat '${file}'` }) },
} as const satisfies Partial<AgentProgram>;

// Its own sandbox cannot be nested in most containers.
const codexExec = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'] as const;
const codexQuiet = 'check_for_update_on_startup = false\n[analytics]\nenabled = false\n';

/** The built-in provider, which first tries a WebSocket. */
const codexBuiltIn: AgentProgram = {
  ...codex,
  title: 'codex',
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: { '.codex/config.toml': `openai_base_url = "${gatewayUrl}/v1"\nmodel = "gpt-5.2"\n${codexQuiet}` },
    environment: { CODEX_API_KEY: apiKey },
    command: (prompt) => [...codexExec, prompt],
  }),
};

const codexProvider: AgentProgram = {
  ...codex,
  title: 'codex (own provider)',
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: {
      '.codex/config.toml': `model = "gpt-5.2"\nmodel_provider = "weir"\n${codexQuiet}[model_providers.weir]\nname = "Weir"\nbase_url = "${gatewayUrl}/v1"\nenv_key = "WEIR_KEY"\n`,
    },
    environment: { WEIR_KEY: apiKey },
    command: (prompt) => [...codexExec, prompt],
  }),
};

/** A provider with the address and the key of a resource, which the program treats as Azure by its name. */
const codexAzure: AgentProgram = {
  ...codex,
  title: 'codex (Azure mode)',
  isInCloudMode: true,
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: {
      '.codex/config.toml': `model = "gpt-5.2"\nmodel_provider = "azure"\n${codexQuiet}[model_providers.azure]\nname = "Azure"\nbase_url = "${gatewayUrl}/openai"\nwire_api = "responses"\nquery_params = { api-version = "2025-04-01-preview" }\nenv_http_headers = { "api-key" = "WEIR_KEY" }\n`,
    },
    environment: { WEIR_KEY: apiKey },
    command: (prompt) => [...codexExec, prompt],
  }),
};

const gemini = {
  package: '@google/gemini-cli',
  version: '0.61.0',
  binary: 'gemini',
  dialect: 'gemini-generate-content',
  readTool: { name: 'read_file', arguments: (file) => ({ file_path: file }) },
} as const satisfies Partial<AgentProgram>;

function geminiSettings(selectedType: string): string {
  return JSON.stringify({
    security: { auth: { selectedType } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
  });
}

function setUpGemini(options: readonly string[]): AgentProgram['setUp'] {
  return ({ gatewayUrl, apiKey }) => ({
    files: {
      '.gemini/settings.json': geminiSettings('gemini-api-key'),
    },
    environment: { GOOGLE_GEMINI_BASE_URL: gatewayUrl, GEMINI_API_KEY: apiKey, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    command: (prompt) => [...options, '-p', prompt],
  });
}

/** Without a model it calls another one to choose a model. */
const geminiRouted: AgentProgram = { ...gemini, title: 'gemini', setUp: setUpGemini([]) };
const geminiNamed: AgentProgram = { ...gemini, title: 'gemini -m', setUp: setUpGemini(['-m', 'gemini-2.5-flash']) };

/** The key of an account without a project, which Google calls the express mode. */
const geminiVertex: AgentProgram = {
  ...gemini,
  title: 'gemini (Vertex mode)',
  isInCloudMode: true,
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: { '.gemini/settings.json': geminiSettings('vertex-ai') },
    environment: { GOOGLE_VERTEX_BASE_URL: gatewayUrl, GOOGLE_API_KEY: apiKey, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    command: (prompt) => ['-m', 'gemini-2.5-flash', '-p', prompt],
  }),
};

const qwen: AgentProgram = {
  title: 'qwen',
  package: '@qwen-code/qwen-code',
  version: '0.15.10',
  binary: 'qwen',
  dialect: 'openai-chat',
  setUp: ({ gatewayUrl, apiKey }) => ({
    files: {
      '.qwen/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
        // Otherwise, after every run, it asks the model which facts to remember, with tools of its own.
        memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      }),
    },
    environment: { OPENAI_BASE_URL: `${gatewayUrl}/v1`, OPENAI_API_KEY: apiKey, OPENAI_MODEL: 'gpt-4.1' },
    command: (prompt) => ['-p', prompt],
  }),
  readTool: { name: 'read_file', arguments: (file) => ({ file_path: file }) },
};

export const agentPrograms: readonly AgentProgram[] = [
  claudeCode,
  ...claudeModes,
  codexBuiltIn,
  codexProvider,
  codexAzure,
  geminiRouted,
  geminiNamed,
  geminiVertex,
  ...opencodePrograms,
  ...piPrograms,
  ...continuePrograms,
  qwen,
];
