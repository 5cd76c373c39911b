import type { ModelTraits } from '../inference/model-traits.ts';
import { createModelTable, type ModelRule } from './model-table.ts';
import { usualChatTraits } from './usual-chat-traits.ts';

/**
 * Sonnet 5, Opus 5 and Haiku 5.5. All models after Opus 4.6 refuse sampling fields (Anthropic's OpenAPI document,
 * `temperature`), a budget for thinking and a prefilled answer (platform.claude.com, migration guide). Efforts reach
 * `max`, with `xhigh` since Opus 4.7 (same, effort). Output is up to 128,000 tokens in a window of a million (same,
 * models overview). The date selects the tool for screens (same, computer use).
 */
const newest: ModelTraits = {
  outputTokensMax: 128_000,
  reasoning: 'effort',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  alwaysReasons: false,
  fixedSampling: true,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: false,
  webSearch: true,
  codeExecution: true,
  urlContext: true,
  screenTool: 'computer_20251124',
  contextTokensMax: 1_000_000,
  mixesTools: true,
  requiresProofs: false,
  chat: usualChatTraits,
};

/**
 * Models up to 4.5 read 200,000 tokens, have an older tool for screens, are controlled by a budget, can be prefilled
 * and accept sampling fields.
 */
const upTo45 = {
  reasoning: 'budget',
  fixedSampling: false,
  prefill: true,
  contextTokensMax: 200_000,
  screenTool: 'computer_20250124',
} as const;

/** Models that cannot think. */
const unthinking = { ...upTo45, reasoning: 'none', structuredOutput: false, screenTool: 'computer_20241022' } as const;

const rules: readonly ModelRule[] = [
  // "Adaptive (always on)" in the models overview: `disabled` is refused.
  { names: /^claude-(?:fable|mythos|opus-5-5)/, differs: { alwaysReasons: true } },
  // No `xhigh` yet. Sampling fields are accepted while thinking is off, and the Messages encoder leaves them out
  // otherwise.
  { names: /^claude-(?:opus|sonnet)-4-6/, differs: { fixedSampling: false, efforts: ['low', 'medium', 'high', 'max'] } },
  // Structured outputs came with Sonnet 4.5 and Opus 4.1.
  { names: /^claude-(?:opus|sonnet|haiku)-4-5/, differs: { ...upTo45, outputTokensMax: 64_000 } },
  { names: /^claude-opus-4-1/, differs: { ...upTo45, outputTokensMax: 32_000 } },
  { names: /^claude-sonnet-4(?:-0|-2025\d{4})?$/, differs: { ...upTo45, outputTokensMax: 64_000, structuredOutput: false } },
  { names: /^claude-opus-4(?:-0|-2025\d{4})?$/, differs: { ...upTo45, outputTokensMax: 32_000, structuredOutput: false } },
  { names: /^claude-3-7-sonnet/, differs: { ...upTo45, outputTokensMax: 64_000, structuredOutput: false } },
  { names: /^claude-3-5-/, differs: { ...unthinking, outputTokensMax: 8192 } },
  {
    names: /^claude-(?:3-|2|instant)/,
    differs: { ...unthinking, outputTokensMax: 4096, webSearch: false, codeExecution: false, urlContext: false },
  },
];

export const traitsOfClaude: (upstreamModel: string) => ModelTraits = createModelTable(newest, rules);
