import type { Quirks } from '../apply-quirks.ts';

/** The quirks of models that think, by the first rule whose names match. */
type ThinkingRules = readonly { readonly names: RegExp; readonly quirks: Quirks }[];

const byRules =
  (rules: ThinkingRules) =>
  (model: string): Quirks =>
    rules.find(({ names }) => names.test(model))?.quirks ?? {};

const dashscopeSwitch = { reasoning: 'budget', reasoningField: 'top_enable_thinking' } as const;

/**
 * Model Studio (alibabacloud.com, "deep thinking"): `enable_thinking` and `thinking_budget` are members of the request.
 * Open Qwen3 models write thoughts unless told otherwise, and then refuse requests for a whole reply (new-api#1109,
 * langchain4j#3974, eino-ext#375). Other models may refuse the members, so they get none.
 */
export const dashscopeThinking = byRules([
  { names: /instruct|coder|-vl-max|livetranslate|omni/, quirks: {} },
  { names: /^(?:qwq|qvq|deepseek-r1|kimi-k2-thinking)|-thinking/, quirks: { ...dashscopeSwitch, alwaysReasons: true } },
  { names: /^qwen3(?:\.\d)?-\d+(?:\.\d+)?b/, quirks: { ...dashscopeSwitch, thinksInStreamsOnly: true } },
  { names: /^(?:qwen3|qwen-(?:plus|flash|turbo)|deepseek-v3\.[12]|glm-(?:4\.[5-9]|[5-9]))/, quirks: dashscopeSwitch },
]);

const thinkingType = { reasoning: 'effort', reasoningField: 'thinking_type' } as const;

/**
 * platform.kimi.ai, "use thinking effort" and "models overview": Kimi K2.5 and K2.6 think unless `thinking.type` is
 * `disabled`, later K2 models always think, and K3 has three efforts. All of them have fixed sampling.
 */
export const moonshotThinking = byRules([
  { names: /^kimi-k2\.[56]/, quirks: { ...thinkingType, fixedSampling: true } },
  { names: /^kimi-k2\.[7-9]/, quirks: { ...thinkingType, alwaysReasons: true, fixedSampling: true } },
  { names: /^kimi-k[3-9]/, quirks: { reasoning: 'effort', efforts: ['low', 'high', 'max'], alwaysReasons: true, fixedSampling: true } },
]);

const glmHistory = { reasoningHistoryField: 'reasoning_content' } as const;

/**
 * docs.z.ai, "thinking mode": GLM 4.5 to 5.2 think unless `thinking.type` is `disabled`. A tool loop must return the
 * thoughts. Later models always think, with three efforts (earendil-works/pi#8706).
 */
export const glmThinking = byRules([
  { names: /^glm-(?:4\.[5-9]|5(?!\.[3-9]|\d))/, quirks: { ...thinkingType, ...glmHistory } },
  {
    names: /^glm-(?:5\.[3-9]|[6-9])/,
    quirks: { reasoning: 'effort', efforts: ['low', 'high', 'max'], alwaysReasons: true, ...glmHistory },
  },
]);
