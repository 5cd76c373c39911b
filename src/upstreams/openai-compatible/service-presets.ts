import type { ServerPreset } from '../upstream-vendor.ts';
import { chatAt, generateContentAt, messagesAt, responsesAt } from './dialect-addresses.ts';
import { dashscopeThinking, glmThinking, moonshotThinking } from './thinking-models.ts';

const bearer = { keyHeader: 'authorization' } as const;

/** docs.z.ai: `tool_choice` may only be `auto`, and an answer may be JSON but without a schema. */
const glm: ServerPreset['quirks'] = { structuredOutput: false, forcedToolChoice: false };

/**
 * Services that are reached at an address of their own, or at several. A call passes through in each of their dialects;
 * others are translated into the first. Sources: the documentation of each service, November 2026. None was tried.
 */
export const servicePresets: Readonly<Record<string, ServerPreset>> = {
  /**
   * platform.moonshot.ai: in China the host is api.moonshot.cn. A tool loop must return the thoughts. Chats refuse
   * `max_completion_tokens`, which Weir does not send (Gitlawb/openclaude#805).
   */
  moonshot: {
    baseUrl: 'https://api.moonshot.ai/v1',
    addresses: [chatAt('/v1'), responsesAt('/v1'), messagesAt('/anthropic/v1', bearer)],
    quirks: { reasoningHistoryField: 'reasoning_content' },
    quirksOf: moonshotThinking,
  },
  /** docs.z.ai: chats have no `/v1`. */
  zai: {
    baseUrl: 'https://api.z.ai/api/paas/v4',
    addresses: [chatAt('/api/paas/v4'), messagesAt('/api/anthropic/v1', bearer)],
    quirks: glm,
    quirksOf: glmThinking,
  },
  /** docs.z.ai: keys of the coding plan are for another path of chats. */
  'zai-coding': {
    baseUrl: 'https://api.z.ai/api/coding/paas/v4',
    addresses: [chatAt('/api/coding/paas/v4'), messagesAt('/api/anthropic/v1', bearer)],
    quirks: glm,
    quirksOf: glmThinking,
  },
  /** docs.bigmodel.cn: the same service in China. */
  zhipu: {
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    addresses: [chatAt('/api/paas/v4'), messagesAt('/api/anthropic/v1', bearer)],
    quirks: glm,
    quirksOf: glmThinking,
  },
  /**
   * platform.minimax.io: in China the host is api.minimaxi.com. Messages come first, because chats write thoughts into
   * the text. `temperature` is over 0 and at most 1.
   */
  minimax: {
    baseUrl: 'https://api.minimax.io/v1',
    addresses: [messagesAt('/anthropic/v1', bearer), chatAt('/v1')],
    quirks: {},
  },
  /** alibabacloud.com, Model Studio: the host depends on the region; dashscope.aliyuncs.com is that of China. */
  dashscope: {
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    addresses: [chatAt('/compatible-mode/v1'), messagesAt('/apps/anthropic/v1')],
    quirks: {},
    quirksOf: dashscopeThinking,
  },
  /** cloud.tencent.com, LKEAP: only Messages, 60 calls a minute unless more were agreed. */
  tencent: {
    baseUrl: 'https://api.lkeap.cloud.tencent.com/api/anthropic/v1',
    addresses: [messagesAt('/api/anthropic/v1', bearer)],
    listsModels: false,
    quirks: {},
  },
  /**
   * docs.snowflake.com, Cortex REST API: the key is a programmatic access token. Messages are for Claude only, so calls
   * are translated into chats.
   */
  snowflake: {
    exampleUrl: 'https://ACCOUNT.snowflakecomputing.com',
    addresses: [chatAt('/api/v2/cortex/v1'), messagesAt('/api/v2/cortex/v1', bearer)],
    listsModels: false,
    quirks: { outputLimitField: 'max_completion_tokens' },
  },
  /** docs.databricks.com, model services: names of models begin with `system.ai.`. Messages are for Claude. */
  databricks: {
    exampleUrl: 'https://WORKSPACE.cloud.databricks.com',
    addresses: [chatAt('/ai-gateway/mlflow/v1'), messagesAt('/ai-gateway/anthropic/v1', bearer)],
    listsModels: false,
    quirks: {},
  },
  /** inference-docs.cerebras.ai: `max_tokens` has another name. */
  cerebras: { baseUrl: 'https://api.cerebras.ai/v1', quirks: { outputLimitField: 'max_completion_tokens' } },
  /** docs.api.nvidia.com. A NIM container has the same interface at its own address. */
  nvidia: { baseUrl: 'https://integrate.api.nvidia.com/v1', quirks: {} },
  /** docs.sambanova.ai. */
  sambanova: { baseUrl: 'https://api.sambanova.ai/v1', quirks: {} },
  /** huggingface.co/docs/inference-providers: a suffix of the model chooses the provider, `model:provider`. */
  huggingface: {
    baseUrl: 'https://router.huggingface.co/v1',
    addresses: [chatAt('/v1'), responsesAt('/v1')],
    quirks: {},
  },
  /** deepinfra.com/docs. */
  deepinfra: { baseUrl: 'https://api.deepinfra.com/v1/openai', quirks: {} },
  /** docs.tokenfactory.nebius.com. */
  nebius: { baseUrl: 'https://api.tokenfactory.nebius.com/v1', quirks: {} },
  /** docs.siliconflow.cn. */
  siliconflow: { baseUrl: 'https://api.siliconflow.cn/v1', quirks: {} },
  /**
   * docs.github.com/rest/models: the key is a token with the right `models: read`. Its catalog is a list of another
   * form at another path.
   */
  'github-models': { baseUrl: 'https://models.github.ai/inference', listsModels: false, quirks: {} },
  /** docs.litellm.ai: a gateway that takes all four dialects. */
  litellm: {
    exampleUrl: 'http://127.0.0.1:4000',
    addresses: [chatAt('/v1'), responsesAt('/v1'), messagesAt('/v1', { countsTokens: true }), generateContentAt('')],
    quirks: { reasoning: 'effort', fetchesUrls: true, rerank: 'cohere', moderations: true },
  },
  /** Another Weir. It takes all four dialects, and executes a repeated request once. */
  weir: {
    exampleUrl: 'http://127.0.0.1:8080',
    addresses: [chatAt('/v1'), responsesAt('/v1'), messagesAt('/v1', { countsTokens: true }), generateContentAt('')],
    quirks: {
      reasoning: 'effort',
      fetchesUrls: true,
      idempotencyKeys: true,
      videos: 'video-generations',
      rerank: 'cohere',
      moderations: true,
    },
  },
};
