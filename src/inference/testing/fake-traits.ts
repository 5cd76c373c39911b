import type { ChatTraits, ModelTraits } from '../model-traits.ts';

/** How a model of a test differs from one that can do everything. */
export type TraitDifferences = Partial<Omit<ModelTraits, 'chat'>> & { readonly chat?: Partial<ChatTraits> };

const ableChat: ChatTraits = {
  outputLimitField: 'max_tokens',
  systemRole: 'system',
  streamOptions: true,
  parallelToolCallsField: true,
  forcedToolChoice: true,
  reasoningField: 'reasoning_effort',
  acceptsTopK: false,
  acceptsLogprobs: true,
};

const ableTraits: ModelTraits = {
  reasoning: 'effort',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: true,
  webSearch: true,
  codeExecution: true,
  mixesTools: true,
  requiresProofs: false,
  chat: ableChat,
};

/** A model for tests: it can do everything and is steered by an effort, but for the differences; later ones count. */
export function createFakeTraits(...differences: readonly TraitDifferences[]): ModelTraits {
  return differences.reduce<ModelTraits>(
    (traits, { chat, ...differing }) => ({ ...traits, ...differing, chat: { ...traits.chat, ...chat } }),
    ableTraits,
  );
}
