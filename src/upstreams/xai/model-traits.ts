import type { ModelTraits } from '../../inference/model-traits.ts';
import { createModelTable, type ModelRule } from '../model-table.ts';
import { usualChatTraits } from '../usual-chat-traits.ts';

/** Grok 4.5 (docs.x.ai, reasoning): three efforts, and thinking cannot be switched off. */
const newest: ModelTraits = {
  reasoning: 'effort',
  efforts: ['low', 'medium', 'high'],
  alwaysReasons: true,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: false,
  prefill: false,
  webSearch: true,
  codeExecution: true,
  mixesTools: true,
  requiresProofs: false,
  chat: { ...usualChatTraits, outputLimitField: 'max_completion_tokens', reasoningHistoryField: 'reasoning_content' },
};

const rules: readonly ModelRule[] = [
  { names: /non-reasoning/, differs: { reasoning: 'none', alwaysReasons: false } },
  { names: /^grok-4\.3/, differs: { efforts: ['none', 'low', 'medium', 'high'], alwaysReasons: false } },
  { names: /^grok-3-mini/, differs: { efforts: ['low', 'high'] } },
  // They think, but refuse settings of how much.
  { names: /^grok-(?:4\.20|4-1-fast|4-fast|code-fast|4(?:-0709|-latest)?$)/, differs: { reasoning: 'none' } },
  { names: /^grok-[23]/, differs: { reasoning: 'none', alwaysReasons: false } },
];

export const traitsOfGrok: (upstreamModel: string) => ModelTraits = createModelTable(newest, rules);
