import type { ModelTraits } from '../inference/model-traits.ts';
import { createModelTable, type ModelRule } from './model-table.ts';
import { usualChatTraits } from './usual-chat-traits.ts';

/**
 * A reasoning model of OpenAI, with the efforts of all models since GPT-5.1. Reasoning models refuse sampling fields
 * and `max_tokens` (reference of Responses and chat completions). Models since 5.1 accept sampling fields while their
 * effort is `none`. One trait for all efforts cannot express that, and leaving the fields out never fails.
 */
const newest: ModelTraits = {
  outputTokensMax: 128_000,
  reasoning: 'effort',
  efforts: ['none', 'low', 'medium', 'high'],
  alwaysReasons: false,
  fixedSampling: true,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: false,
  webSearch: true,
  codeExecution: true,
  fileSearch: true,
  imageGeneration: true,
  contextTokensMax: 1_050_000,
  mixesTools: true,
  requiresProofs: false,
  chat: { ...usualChatTraits, outputLimitField: 'max_completion_tokens', systemRole: 'developer' },
};

const unthinking = { reasoning: 'none', fixedSampling: false, systemRole: 'system' } as const;

/** Models up to 5.3 read 400,000 tokens. */
const upTo53 = { contextTokensMax: 400_000 } as const;

/** Models before structured outputs and server tools. */
const early = {
  ...unthinking,
  structuredOutput: false,
  webSearch: false,
  codeExecution: false,
  fileSearch: false,
  imageGeneration: false,
} as const;

/**
 * Efforts from the reasoning guide of developers.openai.com and from the service's refusals ("Supported values are:
 * 'none', 'low', 'medium', and 'high'", openai/openai-agents-python#2089). Limits from the model pages.
 */
const rules: readonly ModelRule[] = [
  // The only model with the vendor's first tool for screens.
  {
    names: /^computer-use-preview/,
    differs: { ...unthinking, screenTool: 'computer_use_preview', outputTokensMax: 1024, contextTokensMax: 8192 },
  },
  { names: /^gpt-5-chat/, differs: { ...unthinking, outputTokensMax: 16_384, contextTokensMax: 128_000 } },
  { names: /^gpt-5\.\d+-chat/, differs: { contextTokensMax: 128_000, efforts: ['medium'], alwaysReasons: true, outputTokensMax: 16_384 } },
  { names: /^gpt-5-pro/, differs: { ...upTo53, efforts: ['high'], alwaysReasons: true } },
  { names: /^gpt-5\.\d+-pro/, differs: { efforts: ['medium', 'high', 'xhigh'], alwaysReasons: true } },
  { names: /^gpt-5\.1-codex-max|^gpt-5\.[2-9]-codex/, differs: { efforts: ['low', 'medium', 'high', 'xhigh'], alwaysReasons: true } },
  { names: /^gpt-5(?:\.1)?-codex/, differs: { ...upTo53, efforts: ['low', 'medium', 'high'], alwaysReasons: true } },
  { names: /^gpt-5(?:-|$)/, differs: { ...upTo53, efforts: ['minimal', 'low', 'medium', 'high'], alwaysReasons: true } },
  { names: /^gpt-5\.[23](?:-|$)/, differs: { ...upTo53, efforts: ['none', 'low', 'medium', 'high', 'xhigh'] } },
  { names: /^gpt-5\.[45](?:-|$)/, differs: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] } },
  { names: /^gpt-5\.[6-9](?:-|$)/, differs: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] } },
  { names: /^o1-(?:mini|preview)/, differs: { ...early, fixedSampling: true, outputTokensMax: 32_768, contextTokensMax: 128_000 } },
  {
    names: /^(?:o\d|codex-mini)/,
    differs: { efforts: ['low', 'medium', 'high'], alwaysReasons: true, outputTokensMax: 100_000, contextTokensMax: 200_000 },
  },
  { names: /^gpt-4\.1/, differs: { ...unthinking, outputTokensMax: 32_768, contextTokensMax: 1_047_576 } },
  { names: /^(?:chat)?gpt-4o/, differs: { ...unthinking, outputTokensMax: 16_384, contextTokensMax: 128_000 } },
  { names: /^gpt-4-(?:turbo|\d{4}-preview|vision)/, differs: { ...early, outputTokensMax: 4096, contextTokensMax: 128_000 } },
  { names: /^gpt-4/, differs: { ...early, outputTokensMax: 8192, contextTokensMax: 8192 } },
  { names: /^gpt-3\.5/, differs: { ...early, outputTokensMax: 4096, contextTokensMax: 16_385 } },
];

const plainName = (model: string): string => (model.startsWith('ft:') ? model.slice('ft:'.length).replace(/:.*$/, '') : model);

/**
 * Finds the traits of OpenAI's models. Fine-tuned models (`ft:gpt-4o-mini:mine::id`) have the traits of their base
 * model.
 */
export const traitsOfGpt: (upstreamModel: string) => ModelTraits = createModelTable(newest, rules, plainName);
