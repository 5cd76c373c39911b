import type { ModelTraits } from '../inference/model-traits.ts';
import { createModelTable, type ModelRule } from './model-table.ts';
import { usualChatTraits } from './usual-chat-traits.ts';

/**
 * Gemini 3 Flash and its successors. Thinking levels begin at `minimal`, which is not none. Function results contain
 * images. Thought signatures are required with function calls. https addresses are fetched (ai.google.dev: thinking,
 * Gemini 3, file input methods; output limits from the model pages).
 */
const newest: ModelTraits = {
  outputTokensMax: 65_536,
  reasoning: 'effort',
  efforts: ['minimal', 'low', 'medium', 'high'],
  alwaysReasons: true,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: true,
  webSearch: true,
  codeExecution: true,
  urlContext: true,
  contextTokensMax: 1_048_576,
  mixesTools: true,
  requiresProofs: true,
  chat: usualChatTraits,
};

/**
 * Before Gemini 3: a budget instead of levels, function calls without signatures, and functions without other tools.
 */
const before3 = { reasoning: 'budget', fetchesUrls: false, imagesInToolResults: false, requiresProofs: false, mixesTools: false } as const;

const rules: readonly ModelRule[] = [
  { names: /^gemini-3-pro/, differs: { efforts: ['low', 'high'] } },
  { names: /^gemini-3\.\d+-pro/, differs: { efforts: ['low', 'medium', 'high'] } },
  { names: /^gemini-2\.5-pro/, differs: { ...before3 } },
  { names: /^gemini-2\.5/, differs: { ...before3, alwaysReasons: false } },
  {
    names: /^gemini-(?:2\.0|1\.)/,
    differs: { ...before3, reasoning: 'none', alwaysReasons: false, jsonSchemaTools: false, urlContext: false, outputTokensMax: 8192 },
  },
  {
    names: /^gemma-/,
    differs: {
      ...before3,
      reasoning: 'none',
      alwaysReasons: false,
      structuredOutput: false,
      webSearch: false,
      codeExecution: false,
      urlContext: false,
      outputTokensMax: 8192,
    },
  },
];

const plainName = (model: string): string => model.slice(model.lastIndexOf('/') + 1);

export const traitsOfGemini: (upstreamModel: string) => ModelTraits = createModelTable(newest, rules, plainName);
