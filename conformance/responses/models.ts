/** A model of each upstream dialect, with a name that says which. */
export const modelTargets = {
  messages: { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
  responses: { upstream: 'openai', model: 'gpt-4.1' },
  chat: { upstream: 'chat-only', model: 'gpt-4.1' },
  'generate-content': { upstream: 'gemini', model: 'gemini-3-flash-preview' },
} as const;

export type ModelName = keyof typeof modelTargets;

export const modelNames = Object.keys(modelTargets) as readonly ModelName[];

/** `models` of weir.yaml. */
export const models = Object.fromEntries(Object.entries(modelTargets).map(([name, target]) => [name, { targets: [target] }]));

/** The upstream that speaks chat completions only. */
export const chatOnly = (address: string) => ({
  'chat-only': {
    vendor: 'openai-compatible' as const,
    baseUrl: address,
    apiKey: 'sk-upstream-0123456789abcdef',
    dialects: ['openai-chat'],
    forwardHeaders: ['x-simulator-*'],
  },
});
